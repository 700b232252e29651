import { describe, expect, it } from 'vitest'
import { sentenceGraph } from '../../test/support/sentence-graph.ts'
import type { SentenceGraph } from '../sentences.ts'
import { AllowedTokens, tokenLetters } from './allowed-tokens.ts'

/** Every letter, so that everything can be written, and a few longer tokens, also in capitals. */
const VOCABULARY = [
  '▁',
  ..."abcdefghijklmnopqrstuvwxyz0123456789%°'.,?!-",
  '▁Turn',
  '▁turn',
  '▁TU',
  'RN',
  '▁on',
  '▁one',
  '▁switch',
  '▁s',
  'witch',
  '▁fi',
  '▁five',
]

/** Whether a text can be written along a graph, however it is cut into tokens. */
function canWrite(graph: SentenceGraph, text: string): boolean {
  const allowed = new AllowedTokens(graph, tokenLetters(VOCABULARY))
  const written = `▁${text.replaceAll(' ', '▁')}`
  const seen = new Set<string>()
  const follow = (node: ReturnType<AllowedTokens['start']>, at: number): boolean => {
    const { tokens, mayEnd } = allowed.from(node)
    if (at === written.length) return mayEnd
    if (seen.has(`${node.id} ${at}`)) return false
    seen.add(`${node.id} ${at}`)
    return tokens.some(({ token, to }) => {
      const letters = VOCABULARY[token] ?? ''
      return written.startsWith(letters, at) && follow(to, at + letters.length)
    })
  }
  return follow(allowed.start(), 0)
}

const home = sentenceGraph({
  sentence:
    '[please] (turn <state> [the] <device>|set [the] <device> to <number> [percent]|what is the time|i would like the <device> <state>)',
  state: '(on|off)',
  device: '(switch one|living room light)',
  number: '(<ones>|<tens> [<ones>]|one hundred)',
  ones: '(one|two|five|seven)',
  tens: '(twenty|seventy)',
})

describe('what can be written along sentences', () => {
  it.each([
    'turn on switch one',
    'Turn on switch one.',
    'TURN off the living room light!',
    'please, turn on the switch one',
    'turn on switch 1',
    'set the living room light to seventy five percent',
    'set living room light to seventy-five percent',
    'set the living room light to 75%',
    'set the living room light to 75 percent',
    'set switch one to 100%.',
    "what's the time?",
    "i'd like the living room light on.",
  ])('is %j', text => {
    expect(canWrite(home, text)).toBe(true)
  })

  it.each([
    'turn on',
    'turn on switch two',
    'turn on switch onet',
    'turn on switch one off',
    'turn on switch one. please',
    'set the living room light to 78%',
    'set the living room light to 5 7',
    'turnon switch one',
    'xturn on switch one',
    '',
  ])('is not %j', text => {
    expect(canWrite(home, text)).toBe(false)
  })

  it('is nothing along an empty graph', () => {
    expect(canWrite({ version: '', rules: [] }, 'turn on switch one')).toBe(false)
  })

  it('comes to an end with rules that begin with themselves', () => {
    const endless = sentenceGraph({ sentence: '(<sentence> and|on)' })
    expect(canWrite(endless, 'on and and')).toBe(true)
    expect(canWrite(endless, 'off')).toBe(false)
  })

  it('takes no time in a home of 5,000 devices', () => {
    const names = Array.from(
      { length: 5_000 },
      (_, n) => `lamp ${[...String(n)].map(d => 'abcdefghij'[Number(d)]).join('')}`,
    )
    const large = sentenceGraph({ sentence: 'turn (on|off) [the] <device>', device: `(${names.join('|')})` })
    expect(canWrite(large, 'turn on the lamp bcde')).toBe(true)
  })
})
