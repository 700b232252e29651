import { unlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { DocumentIndex } from './document-index.ts'

const listing = vi.hoisted(() => ({ count: 0, whenDone: () => {} }))

/** The real listing, with a moment after it: the one in which a refresh has seen all files and read none. */
vi.mock('./document-files.ts', async importActual => {
  const actual = await importActual<typeof import('./document-files.ts')>()
  const listDocuments = async (folder: string) => {
    const files = await actual.listDocuments(folder)
    listing.count++
    listing.whenDone()
    return files
  }
  return { ...actual, listDocuments }
})

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolpost-index-'))
  writeFileSync(join(folder, 'a.md'), 'apple')
  listing.count = 0
  listing.whenDone = () => {}
})
afterEach(() => rm(folder, { recursive: true, force: true }))

function onceListed(action: () => void): void {
  listing.whenDone = () => {
    listing.whenDone = () => {}
    action()
  }
}

describe('DocumentIndex', () => {
  it('serves questions that come together with one refresh', async () => {
    const index = new DocumentIndex(folder)
    const answers = await Promise.all(['apple', 'appl', 'aple'].map(query => index.search(query, 5)))
    expect(answers.map(hits => hits.length)).toEqual([1, 1, 1])
    expect(listing.count).toBe(1)
  })

  it('gives questions that come during a refresh one more, so that they see what changed before them', async () => {
    const index = new DocumentIndex(folder)
    let late: ReturnType<DocumentIndex['search']>[] = []
    onceListed(() => {
      writeFileSync(join(folder, 'b.md'), 'banana')
      late = [index.search('banana', 5), index.search('banana', 5)]
    })
    expect(await index.search('banana', 5)).toEqual([])
    const files = (await Promise.all(late)).map(hits => hits.map(({ file }) => file))
    expect(files).toEqual([['b.md'], ['b.md']])
    expect(listing.count).toBe(2)
  })

  it('leaves out a file that is gone between listing and reading', async () => {
    const index = new DocumentIndex(folder)
    onceListed(() => unlinkSync(join(folder, 'a.md')))
    expect(await index.search('apple', 5)).toEqual([])
    writeFileSync(join(folder, 'a.md'), 'apple')
    expect(await index.search('apple', 5)).toHaveLength(1)
  })

  it('goes on after a refresh that failed', async () => {
    const index = new DocumentIndex(folder)
    onceListed(() => {
      throw new Error('the disk is away')
    })
    await expect(index.search('apple', 5)).rejects.toThrow('the disk is away')
    expect(await index.search('apple', 5)).toHaveLength(1)
  })
})
