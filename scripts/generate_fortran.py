"""The part of scripts/generate that writes Fortran: constants, and the functions by name.

Standard Fortran has no templates, but what differs between the kinds of a type is only a constant: the functions of all real
types are one file, of all integers another, which fortran/reduct.f90 includes in a module for each kind.
"""
import re

RANKS = range(1, 8)  # an array has at most 15 axes, but few compilers' users more than these
OPTIONS = ['mask', 'mode', 'nan', 'stat', 'errmsg']


def constants(types, operators, header):
    """The header's constants. Names of operators differ, as Fortran does not tell REDUCT_SUM from reduct_sum."""
    def rows(prefix, pairs):
        return [f'  integer, parameter, public :: {prefix}{name} = {number}' for name, number in pairs]

    def enumeration(name):
        body = re.sub(r'/\*.*?\*/', '', re.search(rf'typedef enum {name} {{(.*?)}} {name};', header, re.S)[1], flags=re.S)
        return rows('', re.findall(r'(REDUCT_\w+) = (\d+)', body))

    sections = [('What came of a call: the value of stat', enumeration('reduct_status')),
                ('mode', enumeration('reduct_mode')),
                ('nan: what NaN elements do', enumeration('reduct_nan')),
                ('Operators', rows('REDUCT_OP_', [(op.id, op.number) for op in operators])),
                ('Types of elements, for accumulators', rows('REDUCT_', [(row.id, row.number) for row in types
                                                                         if row.name in ELEMENTS]))]
    lines = ['!> The constants of reduct.h. Written by scripts/generate.', 'module reduct_constants', '  implicit none',
             '  private']
    for title, section in sections:
        lines += ['', f'  ! {title}', *section]
    return '\n'.join([*lines, 'end module reduct_constants']) + '\n'


ELEMENTS = {'f64': 'real', 'f32': 'real', 'i8': 'integer', 'i16': 'integer', 'i32': 'integer', 'i64': 'integer',
            'bool': 'logical'}  # the types that Fortran has


def result_type(op, kind):
    """What a function of elements of a kind ('real', 'integer', 'logical') gives; None where it means nothing. As in C, but that
    what is unsigned there is integer(int64) here: what does not fit is an error."""
    truth = op.combine in ('AND', 'OR') and op.transform == 'NONZERO'
    if kind == 'logical' and not (op.transform == 'NONZERO' or (op.finish == 'MEAN' and op.transform == 'IDENTITY')):
        return None
    if truth:
        return 'logical'
    if op.combine in ('AND', 'OR', 'XOR'):
        return 'integer(xkind)' if kind == 'integer' else None
    if op.finish == 'INDEX' or op.transform in ('PRESENT', 'NONZERO'):
        return 'integer(int64)'
    if kind == 'real':
        return 'real(xkind)'
    if op.combine in ('LEAST', 'GREATEST', 'BOTH'):
        return 'integer(xkind)' if op.transform == 'IDENTITY' and op.finish != 'RANGE' else 'integer(int64)'
    return 'real(real64)' if op.finish != 'VALUE' else 'integer(int64)'


def is_pair(op):
    return op.combine == 'BOTH' and op.finish == 'VALUE'


def shape(op, rank):
    """The bounds of a function's result: of each axis that stays, its length."""
    bounds = ['2'] if is_pair(op) else []
    bounds += [f'merge(size(x, {k}), size(x, {k + 1}), dim > {k})' for k in range(1, rank or 1)]
    return ', '.join(bounds)


def wrapped(line, indent=4):
    """A statement, continued where it is longer than the 132 columns that the standard has."""
    lines = []
    while len(line) > 120:
        at = line.rindex(', ', 0, 118) + 1
        lines.append(line[:at] + ' &')
        line = ' ' * (indent + 4) + line[at:].strip()
    return [*lines, line]


def function(op, kind, rank):
    """One function: of an array of any rank, or along one axis of an array of the rank given."""
    name = f'{op.name}_{f"rank{rank}" if rank else "all"}'
    second = {'dot': 'y', 'weighted_mean': 'weights'}.get(op.name) if op.inputs == '2' else None
    options = [*OPTIONS[:3], *(['population'] if op.finish in ('VARIANCE', 'DEVIATION') else []), *OPTIONS[3:]]
    arguments = ['x', *([second] if second else []), *(['dim'] if rank else []), *options]
    element = 'logical(xkind)' if kind == 'logical' else f'{kind}(xkind)'
    bounds = f'({", ".join([":"] * rank)})' if rank else '(..)'
    result, extent = result_type(op, kind), shape(op, rank)
    passed = [f'y={second}'] if second else []
    passed += [f'{name}={name}' for name in (['dim'] if rank else []) + options]
    lines = wrapped(f'  function {name}({", ".join(arguments)}) result(r)', 2)
    lines.append(f'    {element}, intent(in) :: x{bounds}' + (f', {second}{bounds}' if second else ''))
    if rank:
        lines.append('    integer, intent(in) :: dim')
    lines += ['    logical, intent(in), optional :: mask(..)',
              '    integer, intent(in), optional :: mode, nan']
    if 'population' in options:
        lines.append('    logical, intent(in), optional :: population')
    lines += ['    integer, intent(out), optional :: stat',
              '    character(*), intent(inout), optional :: errmsg']
    lines += wrapped(f'    {result} :: r' + (f'({extent})' if extent else ''))
    lines += ['', *wrapped(f'    call reduce_function(REDUCT_OP_{op.id}, x, r, {", ".join(passed)})'),
              f'  end function {name}']
    return '\n'.join(lines)


def functions(operators, kind):
    """All functions of elements of a kind, as the specification part and the subprograms of a module."""
    meant = [op for op in operators if result_type(op, kind)]
    text = (f'  ! The functions of {kind} arrays, in a module in which `xkind` is their kind: see reduct.f90. Written by '
            'scripts/generate.\n')
    for op in meant:
        names = ', '.join([f'{op.name}_all', *(f'{op.name}_rank{rank}' for rank in RANKS)])
        listed = '\n'.join(wrapped(f'    module procedure {names}'))
        text += f'\n  !> {op.text}\n  interface reduct_{op.name}\n{listed}\n  end interface reduct_{op.name}\n'
    text += '\n' + '\n'.join(f'  public :: reduct_{op.name}' for op in meant) + '\n\ncontains\n'
    for op in meant:
        for rank in (0, *RANKS):
            text += '\n' + function(op, kind, rank) + '\n'
    return text


def files(types, operators, header):
    """What is generated for Fortran: paths, and functions that make the text."""
    yield 'fortran/reduct_constants.f90', lambda: constants(types, operators, header())
    for kind in ('real', 'integer', 'logical'):
        yield f'fortran/reduct_{kind}.inc', lambda kind=kind: functions(operators, kind)
