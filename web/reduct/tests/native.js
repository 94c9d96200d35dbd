/* The native library's answers, through the command: the bits that the package must give too. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bitsOf } from './oracle.js';

const command = process.env.REDUCT ?? fileURLToPath(new URL('../../../build/reduct', import.meta.url));
if (!existsSync(command))
    throw new Error(`${command}: not found; build the native command, or name it in the environment variable REDUCT`);

/* The value of the command's base 16 output: 0x1.8p3, inf, nan. Exact, since no double has more digits. */
export function parseHex(text) {
    const special = { inf: Infinity, '-inf': -Infinity, nan: NaN }[text];
    if (special !== undefined)
        return special;
    const [, sign, whole, fraction = '', exponent] = /^(-?)0x([0-9a-f]+)(?:\.([0-9a-f]+))?p([+-]\d+)$/.exec(text);
    const power = Number(exponent) - 4 * fraction.length;
    let value = Number(`0x${whole}${fraction}`); /* at most 53 bits */
    for (let left = power; left !== 0;) { /* in steps that neither over- nor underflow before the end */
        const step = Math.max(Math.min(left, 500), -500);
        value *= 2 ** step;
        left -= step;
    }
    return sign ? -value : value;
}

/* The bits of a reduction by the native library, or 'empty' where it says that there is no result. */
export function native(operator, x, { y, element, result, nan = 'propagate', population = false }) {
    const folder = mkdtempSync(join(tmpdir(), 'reduct-'));
    try {
        const files = [x, y].filter(Boolean).map((data, i) => {
            const file = join(folder, `${i}.bin`);
            writeFileSync(file, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
            return file;
        });
        const options = ['--quiet', '--hex', '--format', 'raw', '--type', element, '--nan', nan,
            ...(result ? ['--result', result] : []), ...(population ? ['--population'] : [])];
        const text = execFileSync(command, [operator, ...options, ...files], { encoding: 'utf8', stdio: 'pipe' }).trim();
        return bitsOf(parseHex(text), result ?? element);
    } catch (error) {
        if (/does not exist|takes at least/.test(error.stderr))
            return 'empty';
        throw error;
    } finally {
        rmSync(folder, { recursive: true });
    }
}
