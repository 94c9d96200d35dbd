/* The chart of a run: one bar per rung, published ladders as points beside them. Chart.js is in vendor/. */
import { PUBLISHED, nameOf } from './rungs.js';
import { factor, rate, time, ulp } from './format.js';

const { Chart } = globalThis;
const POINTS = ['rectRot', 'triangle', 'circle'];

/* What can be shown: the value of a row, of a published ladder, its label, how it is written. */
export const METRICS = {
    bandwidth: { label: 'GB/s', value: row => row.bytesPerSecond / 1e9, text: value => `${rate(value * 1e9)} GB/s` },
    time: {
        label: 'Time, ms (logarithmic)',
        scale: 'logarithmic',
        value: row => row.seconds * 1e3,
        text: value => time(value / 1e3),
        published: (ladder, id) => (ladder.id === 'webgpu' ? ladder.seconds[id] * 1e3 : NaN),
    },
    speedup: {
        label: 'Times the first rung',
        value: row => row.speedup,
        text: value => `${factor(value)} times`,
        published: (ladder, id) => ladder.seconds['neighbour-modulo'] / ladder.seconds[id],
    },
    error: {
        label: 'Error, ulp (logarithmic, 0.01 or less at the edge)',
        scale: 'logarithmic',
        value: row => (row.ulp === null ? NaN : Math.max(row.ulp, 0.01)),
        text: value => `${ulp(value)} ulp`,
    },
};

function colours() {
    const style = getComputedStyle(document.documentElement);
    return name => style.getPropertyValue(`--${name}`).trim();
}

function dataset(rows, metric, colour) {
    const shade = row =>
        row.specimen ? colour('bad') : row.id === 'exact' || row.id === 'cpu-exact' ? colour('accent') : colour('bar');
    return {
        type: 'bar',
        label: 'here',
        data: rows.map(metric.value),
        backgroundColor: rows.map(shade),
        barThickness: 14,
        borderRadius: 2,
        order: 2,
        minBarLength: 2,
    };
}

function publishedSets(rows, metric, colour) {
    if (!metric.published) return [];
    return PUBLISHED.map((ladder, i) => ({
        type: 'line',
        label: `${ladder.name} (${ladder.machine})`,
        showLine: false,
        order: 1,
        data: rows.map(row => (row.device === 'gpu' ? metric.published(ladder, row.id) : NaN)),
        pointStyle: POINTS[i],
        pointRadius: 5,
        pointBorderColor: colour('ink'),
        pointBackgroundColor: colour('paper'),
        pointBorderWidth: 1.5,
    })).filter(set => set.data.some(Number.isFinite));
}

function options(metric, colour, published) {
    const grid = { color: colour('line'), drawTicks: false };
    const ticks = { color: colour('dim'), padding: 8 };
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const font = { family: getComputedStyle(document.body).fontFamily, size: 13 };
    return {
        indexAxis: 'y',
        responsive: true,
        maintainAspectRatio: false,
        animation: still ? false : { duration: 250 },
        font,
        scales: {
            x: {
                type: metric.scale ?? 'linear',
                position: 'top',
                beginAtZero: true,
                grid,
                border: { display: false },
                ticks: { ...ticks, font, maxTicksLimit: 7, callback: value => Number(value.toPrecision(3)).toString() },
                title: { display: true, text: metric.label, color: colour('dim'), align: 'start', font },
            },
            y: {
                grid: { display: false },
                border: { color: colour('line') },
                ticks: { color: colour('ink'), autoSkip: false, font },
            },
        },
        plugins: {
            legend: {
                display: published,
                position: 'bottom',
                align: 'start',
                labels: { color: colour('dim'), usePointStyle: true, font, filter: item => item.text !== 'here' },
            },
            tooltip: { callbacks: { label: item => `${item.dataset.label}: ${metric.text(item.parsed.x)}` } },
        },
    };
}

/* Speed-ups of the GPU and of the CPU are over different rungs: the chart keeps to one of them. */
function rowsOf(report, metric) {
    const rows = report.rows.filter(row => row.seconds && Number.isFinite(metric.value(row)));
    const onGpu = rows.filter(row => row.device === 'gpu');
    return metric === METRICS.speedup && onGpu.length ? onGpu : rows;
}

let chart = null;

/* Draws the report into the canvas; again after a change of theme or metric. */
export function draw(canvas, report, name) {
    const metric = METRICS[name];
    const colour = colours();
    const rows = rowsOf(report, metric);
    const published = publishedSets(rows, metric, colour);
    canvas.parentElement.style.height = `${rows.length * 26 + 90 + published.length * 24}px`;
    canvas.setAttribute('aria-label', `${metric.label} of ${rows.length} rungs; the table below has the same figures`);
    chart?.destroy();
    chart = new Chart(canvas, {
        data: {
            labels: rows.map(row => (row.device === 'cpu' ? `CPU ${nameOf(row)}` : nameOf(row))),
            datasets: [dataset(rows, metric, colour), ...published],
        },
        options: options(metric, colour, published.length > 0),
    });
    return chart;
}
