/* Making elements. */

/* element('td', {class: 'number', title: '...'}, 'text', child, ...); `null` attributes and children are left out. */
export function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes))
        if (value !== null && value !== undefined && value !== false)
            made.setAttribute(name, value === true ? '' : value);
    made.append(...children.filter(child => child !== null && child !== undefined));
    return made;
}

export const byId = id => document.getElementById(id);
