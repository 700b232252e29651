import { runProgram } from '../programs/run-program.ts'

/** Enough for the words of one home that no dictionary has; the rest fall back to letter rules. */
const MOST_WORDS = 500
const DEADLINE_MS = 2_000
/** espeak-ng's IPA, longest first, with its ARPABET equivalent. */
const PHONES: readonly (readonly [ipa: string, phones: string])[] =
  `tʃ CH|dʒ JH|eɪ EY|aɪ AY|ɔɪ OY|aʊ AW|oʊ OW|əʊ OW|ɪɹ IH R|ɛɹ EH R|ʊɹ UH R|ɑːɹ AA R|ɔːɹ AO R|oːɹ AO R|aɪɚ AY ER|əl AH L|
  iː IY|uː UW|ɑː AA|ɔː AO|ɜː ER|oː OW|æ AE|ɛ EH|ɪ IH|i IY|ʊ UH|u UW|ʌ AH|ə AH|ɐ AH|ɑ AA|ɒ AA|ɔ AO|ɚ ER|e EY|o OW|a AA|
  p P|b B|t T|d D|k K|ɡ G|g G|f F|v V|s S|z Z|θ TH|ð DH|ʃ SH|ʒ ZH|h HH|m M|n N|ŋ NG|l L|ɫ L|ɹ R|r R|ɾ D|w W|j Y|x K|ç HH|ʔ T`
    .split('|')
    .map(line => {
      const [ipa = '', ...phones] = line.trim().split(' ')
      return [ipa, phones.join(' ')]
    })

/** How espeak-ng says words, in ARPABET without stress. Empty if it is not installed or fails: it is optional. */
export async function espeakPhones(words: readonly string[]): Promise<Map<string, string[]>> {
  const asked = words.filter(word => /^[a-z']+$/.test(word)).slice(0, MOST_WORDS)
  if (asked.length === 0) return new Map()
  const args = ['-q', '--ipa', '--sep=_', '-v', 'en-us', '--stdin']
  try {
    const said = await runProgram({
      program: 'espeak-ng',
      args,
      input: asked.map(word => `${word}.\n`).join(''),
      signal: new AbortController().signal,
      deadlineMs: DEADLINE_MS,
      Failure: Error,
    })
    const lines = said.toString().trim().split('\n')
    // Without exactly one line per word, they cannot be matched up.
    if (lines.length !== asked.length) return new Map()
    return new Map(asked.map((word, at) => [word, arpabet(lines[at] ?? '')]))
  } catch {
    return new Map()
  }
}

/** `l_ˈæ_m_p_ə`: L AE M P AH. Unknown sounds are skipped. */
export function arpabet(ipa: string): string[] {
  return ipa
    .replaceAll(/[ˈˌ\s]/g, '')
    .split('_')
    .flatMap(part => phonesIn(part))
}

function phonesIn(part: string): string[] {
  if (part === '') return []
  const [ipa, phones] = PHONES.find(([start]) => part.startsWith(start)) ?? [part.charAt(0), '']
  return [...phones.split(' ').filter(Boolean), ...phonesIn(part.slice(ipa.length))]
}
