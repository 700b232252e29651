/*
 * Letter rules for words that no dictionary has. Names are not always pronounced as written, but this is close enough for
 * comparing sounds.
 */

/** Longer ones first. `^` is the beginning of a word and `$` its end. */
const RULES: readonly (readonly [letters: string, phones: string])[] = [
  ['tion', 'SH AH N'],
  ['sion', 'ZH AH N'],
  ['ture', 'CH ER'],
  ['ough', 'AO'],
  ['augh', 'AO'],
  ['eigh', 'EY'],
  ['igh', 'AY'],
  ['tch', 'CH'],
  ['dge', 'JH'],
  ['sch', 'SH'],
  ['que$', 'K'],
  ['air', 'EH R'],
  ['ear', 'IH R'],
  ['eer', 'IH R'],
  ['our', 'AW R'],
  ['oor', 'AO R'],
  ['ing$', 'IH NG'],
  ['ed$', 'D'],
  ['es$', 'Z'],
  ['le$', 'AH L'],
  ['^kn', 'N'],
  ['^wr', 'R'],
  ['^ps', 'S'],
  ['^x', 'Z'],
  ['^y', 'Y'],
  ['mb$', 'M'],
  ['ch', 'CH'],
  ['sh', 'SH'],
  ['th', 'TH'],
  ['ph', 'F'],
  ['wh', 'W'],
  ['gh', 'G'],
  ['ck', 'K'],
  ['ng', 'NG'],
  ['qu', 'K W'],
  ['ce', 'S'],
  ['ci', 'S IH'],
  ['cy', 'S IY'],
  ['ge$', 'JH'],
  ['ee', 'IY'],
  ['ea', 'IY'],
  ['ie', 'IY'],
  ['ei', 'AY'],
  ['ai', 'EY'],
  ['ay', 'EY'],
  ['oa', 'OW'],
  ['oo', 'UW'],
  ['ou', 'AW'],
  ['ow', 'OW'],
  ['oi', 'OY'],
  ['oy', 'OY'],
  ['au', 'AO'],
  ['aw', 'AO'],
  ['ue', 'UW'],
  ['ew', 'UW'],
  ['ar', 'AA R'],
  ['er', 'ER'],
  ['ir', 'ER'],
  ['ur', 'ER'],
  ['or', 'AO R'],
  ['a$', 'AH'],
  ['e$', ''],
  ['i$', 'IY'],
  ['o$', 'OW'],
  ['y$', 'IY'],
  ...Object.entries({
    a: 'AE',
    b: 'B',
    c: 'K',
    d: 'D',
    e: 'EH',
    f: 'F',
    g: 'G',
    h: 'HH',
    i: 'IH',
    j: 'JH',
    k: 'K',
    l: 'L',
    m: 'M',
    n: 'N',
    o: 'AA',
    p: 'P',
    q: 'K',
    r: 'R',
    s: 'S',
    t: 'T',
    u: 'AH',
    v: 'V',
    w: 'W',
    x: 'K S',
    y: 'IH',
    z: 'Z',
  }),
]

export function lettersToPhones(word: string): string[] {
  const letters = `^${plain(word)}$`
  const phones: string[] = []
  let at = 1
  while (at < letters.length - 1) {
    const rule = RULES.find(([pattern]) => startsAt(letters, at, pattern))
    const used = rule ? rule[0].replace(/[$^]/g, '').length : 1
    if (rule && rule[1] !== '') phones.push(...rule[1].split(' '))
    // Double consonants are pronounced once.
    at += used === 1 && letters[at] === letters[at + 1] && !'aeiou'.includes(letters[at] ?? '') ? 2 : used
  }
  return phones
}

function startsAt(letters: string, at: number, pattern: string): boolean {
  return pattern.startsWith('^') ? at === 1 && letters.startsWith(pattern) : letters.startsWith(pattern, at)
}

/** Without accents: "café" is said as "cafe". */
function plain(word: string): string {
  return word
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '')
}
