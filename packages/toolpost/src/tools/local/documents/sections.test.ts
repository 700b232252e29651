import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitSections } from './sections.ts'

const outline = (file: string, content: string) =>
  splitSections(file, content).map(({ heading, text }) => [heading, text])

describe('splitSections', () => {
  it('splits Markdown at its headings and keeps the headings above', () => {
    const content =
      'Intro\n\n# House\n\n## Heating ##\nWarm\n### Boiler\r\nHot\n## Water\nWet\n# Garden\nGreen'
    expect(outline('a/my_house.md', content)).toEqual([
      ['my house', 'Intro'],
      ['House › Heating', 'Warm'],
      ['House › Heating › Boiler', 'Hot'],
      ['House › Water', 'Wet'],
      ['Garden', 'Green'],
    ])
  })

  it('keeps a heading that has nothing below it', () => {
    expect(outline('a.md', '# One\n# Two\ntext\n## Three')).toEqual([
      ['One', ''],
      ['Two', 'text'],
      ['Two › Three', ''],
    ])
  })

  it('takes no comment in a code block for a heading', () => {
    const content = '# Use\n```sh\n# not a heading\n~~~\n```\nmore\n## Next\nend'
    expect(outline('a.md', content).map(([heading]) => heading)).toEqual(['Use', 'Use › Next'])
  })

  it('takes a text file as it is, named after the file', () => {
    expect(outline('waste-days.txt', '\uFEFF# 1 Monday')).toEqual([['waste days', '# 1 Monday']])
  })

  it('cuts long sections between paragraphs, and long paragraphs between words', () => {
    const paragraph = 'word '.repeat(160).trim()
    const sections = splitSections('a.md', `# Long\n${paragraph}\n\n${paragraph}\n\n${'x'.repeat(4000)}`)
    expect(sections.length).toBeGreaterThan(3)
    expect(sections.every(({ heading, text }) => heading === 'Long' && text.length <= 1500)).toBe(true)
    expect(sections[0]?.text).toBe(paragraph)
  })

  it('loses no word and gives every section its own id, whatever the text', () => {
    const line = fc.oneof(fc.string(), fc.constantFrom('# A', '## B', '```', '', 'lorem ipsum '.repeat(200)))
    fc.assert(
      fc.property(fc.array(line), lines => {
        const content = lines.join('\n')
        const sections = splitSections('f.md', content)
        const letters = (text: string) => text.normalize('NFC').replace(/[\s#›]/g, '')
        const kept = new Set(letters(sections.map(({ heading, text }) => heading + text).join('')))
        expect([...letters(content)].filter(letter => !kept.has(letter))).toEqual([])
        expect(new Set(sections.map(({ id }) => id)).size).toBe(sections.length)
      }),
      { numRuns: 50 },
    )
  })
})
