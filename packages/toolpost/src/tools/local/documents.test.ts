import { mkdir, mkdtemp, rename, rm, stat, symlink, unlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ragQuery } from './documents.ts'

let root = ''
let folder = ''
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'toolpost-documents-'))
  folder = join(root, 'notes')
  await mkdir(folder)
})
afterEach(() => rm(root, { recursive: true, force: true }))

async function write(name: string, content: string): Promise<void> {
  await mkdir(dirname(join(folder, name)), { recursive: true })
  await writeFile(join(folder, name), content)
}

/** Edits a file so that its time differs, however coarse the clock of the file system is. */
async function edit(name: string, content: string): Promise<void> {
  const file = join(folder, name)
  const { mtimeMs } = await stat(file)
  await writeFile(file, content)
  await utimes(file, new Date(), new Date(mtimeMs + 5_000))
}

async function filesFor(ask: ReturnType<typeof ragQuery>, query: string): Promise<string[]> {
  return (await ask({ query })).results.map(({ file }) => file)
}

describe('rag_query', () => {
  it('finds a section, with its file, headings and an excerpt', async () => {
    await write('house/heating.md', '# Heating\n\n## Boiler\n\nRefill at 1.0 bar.\n\n## Radiators\n\nNo air.')
    const found = { file: 'house/heating.md', heading: 'Heating › Boiler', text: 'Refill at 1.0 bar.' }
    expect(await ragQuery(folder)({ query: 'how is the boiler' })).toEqual({
      query: 'how is the boiler',
      results: [{ ...found, score: expect.any(Number) }],
      text: 'Heating › Boiler (house/heating.md): Refill at 1.0 bar.',
    })
  })

  it('splits at headings, not at comments in code, and shows the place in a long section that matches', async () => {
    const filler = 'lorem ipsum dolor '.repeat(40)
    const code = '```sh\n# not a heading\n```'
    await write('a.md', `# Use\n${code}\n## Next ##\n${filler}the Bøiler shows É9 ${filler}`)
    const { results } = await ragQuery(folder)({ query: 'e9' })
    expect(results[0]).toMatchObject({
      heading: 'Use › Next',
      text: expect.stringMatching(/^….*shows É9.*…$/),
    })
    expect(results[0]?.text.length).toBeLessThan(310)
    const [comment] = (await ragQuery(folder)({ query: 'heading' })).results
    expect(comment).toMatchObject({ heading: 'Use', text: '```sh # not a heading ```' })
  })

  it('reads Markdown and text files, and nothing that is hidden, foreign or huge', async () => {
    for (const name of ['a.md', 'b.MARKDOWN', 'deep/er/c.txt']) await write(name, 'lamp')
    for (const name of ['d.js', '.e.md', '.git/f.md', 'node_modules/g/h.md']) await write(name, 'lamp')
    await write('huge.txt', 'lamp '.repeat(1_100_000))
    await writeFile(join(root, 'secret.md'), 'lamp')
    await symlink(join(root, 'secret.md'), join(folder, 'link.md'))
    await symlink(root, join(folder, 'up'))
    const ask = ragQuery(folder)
    expect((await filesFor(ask, 'lamp')).sort()).toEqual(['a.md', 'b.MARKDOWN', 'deep/er/c.txt'])
  })

  it('names a folder that is missing, and finds it once it is there', async () => {
    const missing = join(folder, 'later')
    const ask = ragQuery(missing)
    await expect(ask({ query: 'lamp' })).rejects.toThrow(
      `The documents folder '${missing}' does not exist: create it`,
    )
    await write('later/a.md', 'lamp')
    expect(await filesFor(ask, 'lamp')).toEqual(['a.md'])
  })

  it('finds what was added, edited, moved and removed since', async () => {
    await write('a.md', 'apple')
    const ask = ragQuery(folder)
    expect(await filesFor(ask, 'apple')).toEqual(['a.md'])
    await write('b.md', 'banana')
    expect(await filesFor(ask, 'banana')).toEqual(['b.md'])
    await edit('a.md', 'grape')
    expect(await filesFor(ask, 'grape')).toEqual(['a.md'])
    expect(await filesFor(ask, 'apple')).toEqual([])
    await rename(join(folder, 'b.md'), join(folder, 'c.md'))
    expect(await filesFor(ask, 'banana')).toEqual(['c.md'])
    await unlink(join(folder, 'c.md'))
    expect(await filesFor(ask, 'banana')).toEqual([])
    expect((await ask({ query: 'banana' })).text).toContain('in 1 document')
  })
})
