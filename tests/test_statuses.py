"""Every status that a public function returns is named in its comment in the header, and every one named there can be had.

  test_statuses.py PROGRAM HEADER...

PROGRAM (statuses.c) calls the functions with all kinds of arguments and prints what came of it. A status counts as named
where the comment has REDUCT_ERROR_NAN or, for short, _NAN. A comment stands for all declarations up to the next blank line.
"""
import collections
import os
import re
import subprocess
import sys

COMMENT_AND_CODE = re.compile(r'/\*(?P<comment>.*?)\*/[ \t]*\n(?P<code>(?:(?!\s*/\*)[^\n]*\S[^\n]*\n)*)', re.S)
FUNCTION = re.compile(r'reduct_status\s+(reduct_\w+)\s*\(')
NAMED = re.compile(r'(?<![A-Za-z0-9_])(?:REDUCT_ERROR)?_([A-Z][A-Z_]*)(?![A-Za-z0-9_])')

OUTCOME = re.compile(r'struct (reduct_(?:cuda_)?outcome) \{\s*uint32_t status;\s*/\*(.*?)\*/', re.S)

# Whether the program uses a device with memory of its own, and what only such a one gives.
DEVICE = bool(os.environ.get('REDUCT_TEST_DEVICES'))
DEVICES_ONLY = {('reduct_plan_execute', 'OUT_OF_MEMORY'), ('reduct_accumulator_add', 'OUT_OF_MEMORY'),
                ('reduct_accumulator_result', 'OUT_OF_MEMORY'), ('reduct_table_result', 'OUT_OF_MEMORY'), ('reduct_table_save', 'OUT_OF_MEMORY'),
                ('reduct_cuda_execute', 'DEVICE_LOST'), ('reduct_cuda_keys_group', 'DEVICE_LOST'), ('reduct_cuda_keys_runs', 'DEVICE_LOST')}
DEVICES_ONLY |= {('reduct_cuda_execute_checked', status) for status in ('EMPTY', 'OVERFLOW', 'NAN', 'UNSUPPORTED', 'OUT_OF_MEMORY', 'DEVICE_LOST')}

# What it takes a device that breaks to give: these find another context where theirs is lost.
NEVER = {(function, 'DEVICE_LOST') for function in (
    'reduct_plan_create', 'reduct_plan_execute', 'reduct_plan_execute_each', 'reduct_accumulator_create', 'reduct_accumulator_add',
    'reduct_accumulator_add_masked', 'reduct_accumulator_load', 'reduct_table_create', 'reduct_table_add', 'reduct_table_remove',
    'reduct_table_add_group', 'reduct_table_merge', 'reduct_table_result', 'reduct_table_save', 'reduct_table_load', 'reduct_cuda_keys_create')}
# And one that lacks kernels, of which there is none.
NEVER |= {('reduct_accumulator_load', 'UNSUPPORTED')}
# And as many keys as 32 bits count.
NEVER |= {('reduct_keys_add', 'TOO_LARGE')}


def statuses_of(text):
    return {int(number): name for name, number in re.findall(r'REDUCT_ERROR_(\w+) = (\d+)', text)}


def functions_of(text, names):
    """What each function's comment names."""
    documented = {}
    for match in COMMENT_AND_CODE.finditer(text):
        named = {name for name in NAMED.findall(match['comment']) if name in names}
        for function in FUNCTION.findall(match['code']):
            documented[function] = named
    for kind, comment in OUTCOME.findall(text):
        if kind == 'reduct_cuda_outcome' and not DEVICE:
            continue
        documented[kind] = {name for name in NAMED.findall(comment) if name in names}
    return expand(documented, text)


def expand(documented, text):
    """The functions by name, for each operator and type: what reduct_reduce() documents holds for them."""
    by_name = text[text.find('What follows is written by'):text.find('Here ends what')]
    return {**documented, **{function: documented['reduct_reduce'] for function in FUNCTION.findall(by_name)}}


def returned_by(program, statuses):
    """The statuses that each function gave, and whether the program found all else right."""
    emulator = os.environ.get('REDUCT_TEST_EMULATOR', '').split()  # of another processor, which runs the program
    run = subprocess.run([*emulator, program], stdout=subprocess.PIPE, text=True, check=False)
    returned = collections.defaultdict(set)
    for line in run.stdout.splitlines():
        function, status, _ = line.split()
        returned[function].add(statuses.get(int(status)))
    return returned, run.returncode == 0


def of_any_type(function):
    """reduct_sum_f64() as reduct_sum_TYPE(), other names as they are."""
    return re.sub(r'^(reduct_[a-z0-9_]+?)_(?:b?f\d+|[iu]\d+|bool)$', r'\1_TYPE', function)


def complaints_of(documented, returned):
    for function in sorted(documented.keys() | returned.keys()):
        if function not in returned:
            yield f'{function}: statuses.c does not call it'
            continue
        if function not in documented:
            yield f'{function}: no comment in the header was found'
            continue
        name = of_any_type(function)
        gave = returned[function] - {None}
        for status in sorted(gave - documented[function]):
            yield f'{name}: returned REDUCT_ERROR_{status}, which its comment does not name'
        if name != function: # not every type can overflow
            continue
        for status in sorted(documented[function] - gave):
            if (function, status) not in (NEVER if DEVICE else NEVER | DEVICES_ONLY):
                yield f'{function}: its comment names REDUCT_ERROR_{status}, which no call gave'


def main():
    texts = [open(path, encoding='utf-8').read() for path in sys.argv[2:]]
    statuses = statuses_of(texts[0])
    documented = {}
    for text in texts:
        documented.update(functions_of(text, set(statuses.values())))
    returned, good = returned_by(sys.argv[1], statuses)
    complaints = list(dict.fromkeys(complaints_of(documented, returned)))
    for complaint in complaints:
        print(complaint)
    print(f'{len(returned)} functions, {len(complaints)} complaints')
    return 0 if good and returned and not complaints else 1


if __name__ == '__main__':
    sys.exit(main())
