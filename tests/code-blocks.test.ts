import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Ajv } from 'ajv'
import { parse } from 'jsonc-parser'
import { describe, expect, it } from 'vitest'
import { type CodeBlock, codeBlocks, documents, read, root } from './project.ts'

const handWritten = documents().filter(name => !/^docs\/(reference|decisions)\//.test(name))
const blocks = handWritten.flatMap(codeBlocks)
const of = (...languages: string[]) => blocks.filter(({ language }) => languages.includes(language))
const place = ({ document, line }: CodeBlock) => `${document}:${line}`

/** What the compiler says about these files, in a project that has installed our packages. */
async function compile(files: Record<string, string>, options: object): Promise<string> {
  const cache = join(root, 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'code-blocks-'))
  const target = { target: 'ES2022', module: 'NodeNext', strict: true, noEmit: true, types: ['node'] }
  const config = JSON.stringify({ compilerOptions: { ...target, ...options }, include: ['*'] })
  const all = { ...files, 'package.json': '{ "type": "module" }', 'tsconfig.json': config }
  for (const [name, text] of Object.entries(all)) writeFileSync(join(folder, name), text)
  const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
  const words = [join(typescript, 'bin', 'tsc'), '-p', folder]
  const printed = await new Promise<string>(resolve => {
    execFile(process.execPath, words, { cwd: folder }, (_error, stdout, stderr) => resolve(stdout + stderr))
  })
  rmSync(folder, { recursive: true })
  return printed
}

it('the types of toolpost compile in a strict project that checks its libraries, and reject wrong arguments', async () => {
  const strict = { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, skipLibCheck: false }
  const calls = read('tests/strict-project/typed-calls.ts')
  expect(await compile({ 'typed-calls.ts': calls }, strict)).toBe('')
  const withoutNodeTypes = { ...strict, types: [] }
  expect(await compile({ 'core.ts': "export * from 'toolpost'" }, withoutNodeTypes)).toBe('')
}, 120_000)

describe('the code in the documents', () => {
  it('type-checks', async () => {
    const files = of('js', 'ts').map(block => [
      `${place(block).replaceAll(/[^\w]/g, '_')}.${block.language}`,
      `${block.code}\nexport {}\n`,
    ])
    const given = { 'given.d.ts': read('tests/code-blocks-given.d.ts') }
    const options = { skipLibCheck: true, allowJs: true, checkJs: true, noImplicitAny: false }
    expect(await compile({ ...Object.fromEntries(files), ...given }, options)).toBe('')
  }, 120_000)

  it('is valid JSON, and a valid configuration if it is one', () => {
    const schema = JSON.parse(read('packages/toolpost/toolpost.schema.json'))
    const ajv = new Ajv({ strict: false, validateSchema: false, allErrors: true, validateFormats: false })
    const check = ajv.compile({ ...schema, $schema: undefined })
    const problems = of('json', 'jsonc').flatMap(block => {
      const errors: object[] = []
      const value: unknown = parse(block.code, errors as never, { allowTrailingComma: true })
      if (errors.length > 0) return [`${place(block)} is not JSON`]
      const keys = Object.keys(value as object)
      const isConfiguration = keys.some(key => key in schema.properties && key !== 'servers')
      if (!isConfiguration || check(value)) return []
      return [`${place(block)}: ${ajv.errorsText(check.errors)}`]
    })
    expect(problems).toEqual([])
  })

  it('uses commands, options and scripts that exist', () => {
    const commands = read('docs/reference/command-line.md')
    const { scripts } = JSON.parse(read('package.json')) as { scripts: object }
    const lines = of('sh', 'bash', 'console').flatMap(block =>
      block.code
        .replaceAll('\\\n', ' ')
        .split('\n')
        .map(line => ({ line: line.replace(/(^|\s)#.*$/, ''), where: place(block) })),
    )
    const problems = lines.flatMap(({ line, where }) => [
      ...unknownScript(line, scripts).map(name => `${where}: there is no script ${name}`),
      ...unknownWords(line, commands).map(word => `${where}: ${word} is not in the command line's help`),
    ])
    expect(problems).toEqual([])
  })
})

function unknownScript(line: string, scripts: object): string[] {
  return [...line.matchAll(/\bnpm run ([\w:]+)/g)].flatMap(([, name = '']) => (name in scripts ? [] : [name]))
}

/** Options of `toolpost` or `voice-gateway` commands that are not in their help. */
function unknownWords(line: string, reference: string): string[] {
  const [, program, rest = ''] =
    /(?:^|[\s$;&|])(toolpost|voice-gateway) ((?:[^|;&"']|"[^"]*"|'[^']*')*)/.exec(line) ?? []
  if (!program || /^\s*docker /.test(line)) return []
  const words = rest.replaceAll(/"[^"]*"|'[^']*'/g, '').split(/\s+/)
  const command = words.find(word => /^[a-z]+$/.test(word))
  const heading =
    command && reference.includes(`\n## ${program} ${command}\n`) ? `${program} ${command}` : program
  const [help = ''] = reference.split(`\n## ${heading}\n`)[1]?.split('\n## ') ?? []
  const general = reference.split(`\n## ${program}\n`)[1]?.split('\n## ')[0] ?? ''
  const own = words.slice(0, words.includes('--') ? words.indexOf('--') : undefined)
  return own
    .filter(word => /^--[a-z]/.test(word))
    .map(word => word.split('=')[0] ?? '')
    .filter(option => !help.includes(option) && !general.includes(option))
    .map(option => `${heading} ${option}`)
}
