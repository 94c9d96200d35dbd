/* The exact sums of all rows and of all columns of a matrix, to judge by. */

/* Sums in pairs of f64: the second number has what the first could not hold. With the page's numbers, which are multiples of 2^-34
 * below 2^21, no bit is lost. */
class Sums {
    constructor(count) {
        this.high = new Float64Array(count);
        this.low = new Float64Array(count);
        this.magnitude = new Float64Array(count);
    }

    add(at, x) {
        const before = this.high[at];
        const sum = before + x;
        const part = sum - before;
        this.high[at] = sum;
        this.low[at] += before - (sum - part) + (x - part);
        this.magnitude[at] += Math.abs(x);
    }

    /* {value, rounded, magnitude}: arrays of the sums as f64 and in the type of the elements. */
    done(type) {
        const { high, low, magnitude } = this;
        const rounded = type === 'f32' ? Float32Array.from(high, (x, i) => roundPair(x, low[i])) : Int32Array.from(high);
        return { value: high.map((x, i) => x + low[i]), rounded, magnitude };
    }
}

/* The f32 nearest to high + low, which are rounded once: to f64 first would be twice, and wrong where that lands in the middle
 * between two f32. */
export function roundPair(high, low) {
    const value = high + low;
    const part = value - high;
    const rest = high - (value - part) + (low - part);
    const near = Math.fround(value);
    const other = Math.fround(2 * value - near); /* on the other side of the middle, if value is there */
    return other - value === value - near && rest !== 0 && rest > 0 === other > near ? other : near;
}

/* Rows of `columns` elements each; what is left over belongs to none. */
export function sumsOf(x, columns, type) {
    const rows = Math.floor(x.length / columns);
    const [ofRows, ofColumns] = [new Sums(rows), new Sums(columns)];
    for (let row = 0, i = 0; row < rows; row++)
        for (let column = 0; column < columns; column++, i++) {
            ofRows.add(row, x[i]);
            ofColumns.add(column, x[i]);
        }
    return { rows: ofRows.done(type), columns: ofColumns.done(type) };
}
