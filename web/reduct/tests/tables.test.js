/* The package's tables are those of the C library: as its sources list them, and as the compiled module says. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { declarations, script, tables } from '../../wasm/generate.js';
import { engine, kernels } from '../load.js';
import { load, OPERATORS } from '../index.js';
import * as table from '../tables.js';

const read = path => readFileSync(new URL(path, import.meta.url), 'utf8');
const { exports } = await load();

test('what is checked in is what include/reduct/ says; where not, run web/wasm/generate.js', () => {
    assert.equal(read('../tables.js'), script(tables()));
    assert.equal(read('../index.d.ts'), declarations(read('../index.d.ts'), tables()));
});

/* Names by number, until a function of the library knows none. */
function names(function_, first) {
    const found = [];
    for (let number = first, at; (at = exports[function_](number)); number++) {
        const bytes = new Uint8Array(exports.memory.buffer, at);
        found.push([new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0))), number]);
    }
    return found;
}
const numbers = rows => Object.entries(rows).map(([name, row]) => [name, row.number]);

test('the module has these operators and types, and no others', () => {
    assert.deepEqual(numbers(table.OPERATORS), names('reduct_operator_name', 1));
    assert.deepEqual(OPERATORS, names('reduct_operator_name', 1).map(([name]) => name));
    assert.deepEqual(numbers(table.TYPES), names('reduct_type_name', 1));
    for (const { number, bytes } of Object.values(table.TYPES))
        assert.equal(exports.reduct_type_size(number), bytes);
    assert.deepEqual(Object.entries(table.NAN_POLICIES), names('reduct_nan_name', 0));
});

test('every status of the library has a name, and none is made up', () => {
    const unknown = exports.reduct_status_text(-1), numbers = Object.values(table.STATUSES);
    assert.deepEqual(numbers, numbers.map((_, i) => i + 1));
    for (const number of numbers)
        assert.notEqual(exports.reduct_status_text(number), unknown, String(number));
    assert.equal(exports.reduct_status_text(numbers.length + 1), unknown);
});

test('embedded.js holds the module and the kernels', async () => {
    assert.deepEqual(Buffer.from(await engine()), readFileSync(new URL('../reduct.wasm', import.meta.url)));
    assert.equal(await kernels(), read('../exact.wgsl'));
    assert.equal(await kernels(), read('../../../src/shaders/exact.wgsl'));
});
