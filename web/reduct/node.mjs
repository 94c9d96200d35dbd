/* The way in for Node, where import and require() must meet in one instance: index.cjs, which `npm run commonjs` makes
 * of index.js. Bundlers and browsers take index.js itself. */
export * from './index.cjs';
