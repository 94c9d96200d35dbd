/* Says at once why the page cannot start: opened as a file, browsers refuse it its modules; so may a server that lacks
 * some of them. No module itself, so that it runs where modules do not. */
'use strict';
(() => {
    const say = (what, todo) =>
        addEventListener('DOMContentLoaded', () => {
            const [strong, code] = ['strong', 'code'].map(tag => document.createElement(tag));
            strong.textContent = what;
            code.textContent = 'make web';
            const line = document.createElement('p');
            line.append(
                strong,
                ' ',
                todo,
                ' ',
                code,
                ' in the repository serves it, and so does any other static server.',
            );
            document.getElementById('device').replaceChildren(line);
        });
    if (location.protocol === 'file:')
        say('This page was opened as a file.', 'Browsers let it load its parts only from a server; a local one does.');
    else
        addEventListener(
            'error',
            ({ target }) =>
                target instanceof HTMLScriptElement &&
                say('A part of this page could not be loaded:', `${new URL(target.src).pathname} is missing.`),
            true /* such errors do not bubble */,
        );
})();
