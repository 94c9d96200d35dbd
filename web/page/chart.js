/* The chart of a run: one bar per rung, published ladders as points beside them. Chart.js is in vendor/. */
import { say } from './chinese.js';
import { PUBLISHED, nameOf } from './rungs.js';
import { factor, rate, time, ulp } from './format.js';

const { Chart } = globalThis;
const POINTS = ['rectRot', 'triangle', 'circle'];

/* Where the axis of errors begins: a logarithmic one has no zero. */
const EDGE = 0.01;

/* Bars that differ by more than this would not be seen beside each other on a linear axis. */
const WIDE = 100;

/* What can be shown: the value of a row, of a published ladder, its label, how it is written. */
export const METRICS = {
    bandwidth: {
        label: 'GB/s',
        value: row => row.bytesPerSecond / 1e9,
        text: value => `${rate(value * 1e9)} GB/s`,
    },
    time: {
        label: 'Time, ms',
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
        label: 'Error, ulp',
        notes: [`${EDGE} or less at the edge`],
        scale: 'logarithmic',
        edge: EDGE,
        value: row => (row.ulp === null ? NaN : Math.max(row.ulp, EDGE)),
        text: value => `${ulp(value)} ulp`,
    },
};

function colours() {
    const style = getComputedStyle(document.documentElement);
    return name => style.getPropertyValue(`--${name}`).trim();
}

function dataset(rows, metric, colour) {
    const shade = row =>
        row.specimen ? colour('bad') : /^(exact$|cpu-)/.test(row.id) ? colour('accent') : colour('bar');
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

/* A chart that is narrower than this has smaller type and fewer ticks. */
const NARROW = 480;

const shortTick = value =>
    value >= 1e5 ? value.toExponential(0).replace('e+', 'e') : `${Number(value.toPrecision(3))}`;

function options(metric, { colour, published, scale, still, width }) {
    const grid = { color: colour('line'), drawTicks: false };
    const ticks = { color: colour('dim'), padding: 8 };
    const narrow = width < NARROW;
    const font = { family: getComputedStyle(document.body).fontFamily, size: narrow ? 12 : 13 };
    const title = [metric.label, ...(metric.notes ?? []), ...(scale === 'logarithmic' ? ['logarithmic'] : [])].map(say);
    return {
        indexAxis: 'y',
        responsive: true,
        maintainAspectRatio: false,
        animation: still ? false : { duration: 250 },
        font,
        scales: {
            x: {
                type: scale,
                min: metric.edge,
                position: 'top',
                beginAtZero: true,
                grid,
                border: { display: false },
                ticks: {
                    ...ticks,
                    font,
                    maxRotation: 0,
                    maxTicksLimit: narrow ? 4 : 7,
                    callback: value => shortTick(value),
                },
                title: {
                    display: true,
                    text: narrow ? title : title.join('; '),
                    color: colour('dim'),
                    align: 'start',
                    font,
                },
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
    const rows = report.rows.filter(row => row.pending || (row.seconds && Number.isFinite(metric.value(row))));
    const onGpu = rows.filter(row => row.device === 'gpu');
    return metric === METRICS.speedup && onGpu.length ? onGpu : rows;
}

/* A metric's own scale, or the one on which all of its bars can be seen. */
function scaleOf(metric, rows) {
    if (metric.scale) return metric.scale;
    const values = rows.map(metric.value).filter(Number.isFinite);
    return Math.max(...values) > WIDE * Math.min(...values) ? 'logarithmic' : 'linear';
}

const labelOf = row => (row.device === 'cpu' ? `CPU ${nameOf(row).replace(/ \(.*/, '')}` : nameOf(row));

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
            labels: rows.map(row => say(labelOf(row))),
            datasets: [dataset(rows, metric, colour), ...published],
        },
        options: options(metric, {
            colour,
            published: published.length > 0,
            scale: scaleOf(metric, rows),
            still: report.unfinished || matchMedia('(prefers-reduced-motion: reduce)').matches,
            width: canvas.parentElement.clientWidth,
        }),
    });
    return chart;
}
