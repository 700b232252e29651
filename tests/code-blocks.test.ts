import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { Ajv } from 'ajv'
import { parse } from 'jsonc-parser'
import { afterAll, describe, expect, it } from 'vitest'
import { type CodeBlock, codeBlocks, documents } from './markdown.ts'
import { root } from './project.ts'

const run = promisify(execFile)
const handWritten = documents().filter(
  name => !name.startsWith('docs/reference/') && !name.startsWith('docs/decisions/'),
)
const blocks = handWritten.flatMap(codeBlocks)
const of = (...languages: string[]) => blocks.filter(({ language }) => languages.includes(language))
const place = ({ document, line }: CodeBlock) => `${document}:${line}`

// Inside node_modules, so that packages are resolved as in a project that has installed them.
const cache = join(root, 'node_modules', '.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'code-blocks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the code in the documents', () => {
  it('type-checks', async () => {
    const compilerOptions = {
      ...{
        target: 'ES2022',
        module: 'NodeNext',
        strict: true,
        skipLibCheck: true,
        noEmit: true,
        types: ['node'],
      },
      ...{ allowJs: true, checkJs: true, noImplicitAny: false },
    }
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*'] }))
    copyFileSync(join(root, 'tests', 'code-blocks-given.d.ts'), join(folder, 'given.d.ts'))
    for (const block of of('js', 'ts')) {
      const name = place(block).replaceAll(/[^\w]/g, '_')
      writeFileSync(join(folder, `${name}.${block.language}`), `${block.code}\nexport {}\n`)
    }
    const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
    const compiled = run(process.execPath, [join(typescript, 'bin', 'tsc'), '-p', folder], { cwd: folder })
    const printed = await compiled.then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    )
    expect(printed).toBe('')
  }, 120_000)

  it('is valid JSON, and a valid configuration if it is one', () => {
    const schema = JSON.parse(readFileSync(join(root, 'packages/toolpost/toolpost.schema.json'), 'utf8'))
    const check = new Ajv({
      strict: false,
      validateSchema: false,
      allErrors: true,
      formats: { uri: true },
    }).compile({
      ...schema,
      $schema: undefined,
    })
    const problems = of('json', 'jsonc').flatMap(block => {
      const errors: object[] = []
      const value: unknown = parse(block.code, errors as never, { allowTrailingComma: true })
      if (errors.length > 0) return [`${place(block)} is not JSON`]
      const keys = Object.keys(value as object)
      const isConfiguration = keys.some(key => key in schema.properties && key !== 'servers')
      if (!isConfiguration || check(value)) return []
      return [
        `${place(block)}: ${check.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`).join('; ')}`,
      ]
    })
    expect(problems).toEqual([])
  })

  it('uses commands, options and scripts that exist', () => {
    const commands = readFileSync(join(root, 'docs/reference/command-line.md'), 'utf8')
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
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
