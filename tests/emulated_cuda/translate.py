"""Makes a CUDA source one that a compiler of the host can read with language.h before it: asm statements, which hold
instructions of another processor, become calls of functions named after the instructions.

    translate.py SOURCE OUTPUT [--calls]

    asm("min.u32 %0, %1, 1;" : "=r"(one) : "r"(word));      becomes      ptx_min_u32((one), (word), 1);

With --calls each kernel gets a function besides that calls it with parameters as a driver has them, pointers to each: for
kernels whose parameters are not the library's.

Dynamic shared memory, an array without a size, becomes what emulated_dynamic() returns.
Registers that a statement declares are predicates, and become variables; addresses lose their brackets.
Lines stay where they are, and are known to the compiler by the source's own name."""
import re
import sys

STATEMENT = re.compile(r'\basm\s*(?:volatile\s*)?\(\s*((?:"[^"]*"\s*)+)((?::[^;"]*(?:"[^"]*"[^;"]*)*)?)\)\s*;')
DYNAMIC = re.compile(r'extern __shared__ (?:__align__\(\d+\) )?unsigned char (\w+)\[\];')
KERNEL = re.compile(r'extern "C" __global__ void((?:\s|\\\n|__\w+__\([^()]*\))*)([\w#]+)\(([^()]*)\)')
OPERAND = re.compile(r'"[=+]?[a-z]"\s*(\((?:[^()]|\([^()]*\))*\))')


def call(instruction, operands):
    brace, instruction = re.fullmatch(r'\s*([{}]?)\s*(.*)', instruction, re.DOTALL).groups()
    if not instruction:
        return brace
    name, _, arguments = instruction.strip().partition(' ')
    if name == '.reg':
        return f'{brace} bool {arguments.split()[1]};'
    arguments = re.sub(r'%(\d)', lambda number: operands[int(number[1])], re.sub('[][]', '', arguments))
    return f'{brace} ptx_{re.sub("[.:]", "_", name)}({arguments.strip()});'


def translate(statement):
    text = ''.join(re.findall(r'"([^"]*)"', statement[1]))
    operands = OPERAND.findall(statement[2])
    calls = [call(instruction, operands) for instruction in text.split(';') if instruction.strip()]
    return ' '.join(calls) + '\n' * statement[0].count('\n')


def main():
    source, output, *calls = sys.argv[1:]
    with open(source) as file:
        text = file.read()
    if calls:
        text = KERNEL.sub(lambda kernel: f'EMULATED_KERNEL({kernel[2]}, {kernel[3]})' + re.sub(r'[^\\\n]', '', kernel[1]), text)
    with open(output, 'w') as file:
        file.write(f'#line 1 "{source}"\n' + DYNAMIC.sub(r'#define \1 (static_cast<unsigned char *>(emulated_dynamic()))',
                                                              STATEMENT.sub(translate, text)))


main()
