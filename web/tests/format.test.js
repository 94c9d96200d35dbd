/* Numbers as people read them. */
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { compared, counted, left, plain, shortest } from '../page/format.js';
import { markdown, note } from '../page/report.js';

test('the zero with a sign keeps it', () => {
    assert.equal(plain(-0), '-0');
    assert.equal(shortest(-0), '-0');
    assert.equal(plain(0), '0');
    assert.equal(plain(7n), '7');
});

test('one is singular', () => {
    assert.equal(counted(1, 'element'), '1 element');
    assert.equal(counted(2, 'element'), '2 elements');
    assert.equal(counted(2 ** 20, 'element'), '1 Mi elements');
});

test('digits that differ, from the first on', () => {
    const f32 = Math.fround;
    const cases = [
        [f32(10.671476), f32(10.671476), '10.671476', ''],
        [f32(10.671493), f32(10.671476), '10.6714', '93'],
        [f32(10.5), f32(10.671476), '10.', '5'],
        [f32(10), f32(10.671476), '10.', '000000'],
        [f32(10.671476), f32(10), '10', '.671476'],
        [f32(1.5), f32(10.671476), '', '1.5'],
        [f32(-10.5), f32(10.5), '', '-10.5'],
        [0, f32(10.671476), '', '0'],
        [-0, 0, '', '-0'],
        [5242880, 5243120, '524', '2880'],
        [NaN, 1, '', 'NaN'],
        [Infinity, 1, '', 'Infinity'],
        [f32(1e-10), f32(1.5e-10), '', '1e-10'],
    ];
    for (const [value, expected, same, different] of cases)
        assert.deepEqual(compared(value, expected, 'f32'), { same, different }, `${value} beside ${expected}`);
    assert.deepEqual(compared(1234, 1235, 'i32'), { same: '123', different: '4' });
});

test('the time that is left', () => {
    assert.equal(left(null), '');
    assert.equal(left(2), 'a few seconds left');
    assert.equal(left(42), 'about 45 s left');
    assert.equal(left(170), 'about 3 min left');
});

test('speed-ups across finishes are told, where each rung has its own', () => {
    const measured = { device: 'gpu', seconds: 1e-3, bytesPerSecond: 1e9, speedup: 1, ulp: 0, right: true, value: 1, bits: '' };
    const row = (id, finish, more) => ({ ...measured, id, name: id, finish, ...more });
    const run = { n: 1024, kind: 'uniform', type: 'f32', copies: 1, workgroup: 256, device: { name: 'GPU' }, clock: 'wall' };
    const report = (finish, rows, more) => ({ ...run, expected: { judge: 'nothing' }, finish, rows, ...more });
    const mixed = [row('halving', 'recursive'), row('shuffle', 'second-launch')];
    const told = /Speed-ups on the GPU are over the first rung, each rung with its own finish; the finish second-launch sets like/;
    for (const write of [note, markdown]) {
        assert.match(write(report('own', mixed)), told);
        assert.doesNotMatch(write(report('own', mixed, { columns: 32 })), told);
        assert.doesNotMatch(write(report('own', [row('halving', 'recursive'), row('first-add', 'recursive')])), told);
        assert.doesNotMatch(write(report('own', [mixed[0], row('shuffle', 'second-launch', { seconds: null, without: 'no' })])), told);
        assert.doesNotMatch(write(report('second-launch', [row('halving', 'second-launch'), row('exact', 'last-block')])), told);
    }
});
