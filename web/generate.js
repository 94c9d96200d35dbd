/* Writes out for the page what the command lists once: files of other kinds by their first bytes (cli/readers/signature.c).
 *
 *     node web/generate.js      writes web/signatures.js
 *
 * It is checked in, so that the page needs no step in between; a test fails where it differs from what this would write. */
import { readFileSync, writeFileSync } from 'node:fs';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';

const SOURCE = new URL('../cli/readers/signature.c', import.meta.url);
export const MADE = new URL('signatures.js', import.meta.url);

const ESCAPES = { n: 10, r: 13, t: 9, '\\': 92, '"': 34 };

/* The bytes of C string literals, one after the other. */
function bytesOf(literals) {
    const bytes = [];
    for (const [, inside] of literals.matchAll(/"((?:[^"\\]|\\.)*)"/g))
        for (const [all, hex, octal, letter] of inside.matchAll(/\\x([0-9a-f]+)|\\([0-7]{1,3})|\\(.)|[^\\]/gi))
            bytes.push(hex ? parseInt(hex, 16) : octal ? parseInt(octal, 8) : letter ? ESCAPES[letter] : all.charCodeAt(0));
    return bytes;
}

/* Advice for those who have no shell at hand: without the example, and for a database in other words. */
const advise = advice => advice.replace(/, as in [^,]*/, '').replace('pipe a column of it', 'export a column of it as text');

/* Bytes, what it is, advice. */
export function signatures() {
    const source = readFileSync(SOURCE, 'utf8');
    const found = [...source.matchAll(/\{BEGINS\(([^)]*)\),\s*"([^"]*)",\s*"([^"]*)"\}/g)];
    if (found.length !== source.split('{BEGINS(').length - 1)
        throw new Error('cli/readers/signature.c: a row is not as expected');
    return found.map(([, literals, what, advice]) => [bytesOf(literals), what, advise(advice)]);
}

export function script() {
    const rows = signatures().map(([bytes, what, advice]) => `    [[${bytes.join(', ')}], ${JSON.stringify(what)}, ${JSON.stringify(advice)}],\n`);
    return `/* Files of other kinds: their first bytes, what they are, what to do with them.
 * Made by web/generate.js from cli/readers/signature.c. */
export const SIGNATURES = [
${rows.join('')}];
`;
}

if (argv[1] === fileURLToPath(import.meta.url))
    writeFileSync(MADE, script());
