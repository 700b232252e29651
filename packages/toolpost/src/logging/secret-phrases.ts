import { REMOVED } from './known-secrets.ts'
import { looksRandom } from './looks-random.ts'
import { type Form, isWord, type Left } from './secret-form.ts'
import { namesASecret } from './secret-names.ts'

/*
 * Secrets that stand behind their names with nothing but blanks or a word between: "the password is x", `requirepass x`.
 * Prose has such names too, so the value must not be a word.
 */

/** Of an algorithm or a protocol: `sha256`, `oauth2`. */
const TECHNICAL = /^(?:sha|md|base|utf|aes|rsa|oauth|ipv|http|tls|v)[-_]?\d/i
/** A name that no sentence has: `mqtt_password`, `bindpw`, `dbPass`, `-storepass`, `PASS` of a protocol. */
const OF_A_SETTING = /[_.-]|[a-z][A-Z]|^(?:PASS|AUTH)$|^(?!pass)\w+(?:pass|pw|auth)$/
/** A name of a password whose value is taken for one even if it has the look of a word with a number. */
const OF_A_PASSWORD = /pass(?:word|wd|phrase|code|wort)$|^(?:kennwort|contraseña|api ?key)$/i

function isNoProse(name: string, value: string): boolean {
  if (looksRandom(value)) return true
  if (isWord(value) || value.length < 6 || TECHNICAL.test(value) || /[/(]|\.\w/.test(value)) return false
  return OF_A_SETTING.test(name) || (OF_A_PASSWORD.test(name) && /\d/.test(value) && /[a-z]/i.test(value))
}

const ifNoProse: Left = (all, [before = '', name = '', value = '']) =>
  namesASecret(name) && isNoProse(name, value) ? before + REMOVED : all

/** The last word is the name, or the last two are: "verification code". */
const ifSaid: Left = (all, [before = '', words = '', value = '']) => {
  const isNamed = namesASecret(words) || namesASecret(words.slice(words.indexOf(' ') + 1))
  return isNamed && (/["'`]$/.test(before) || !isWord(value)) ? before + REMOVED : all
}

export const PHRASES: readonly Form[] = [
  {
    hint: / (?:is|was|ist|lautet|est|es)[ :]/,
    pattern:
      /(\b((?:[A-Za-z][\w-]{0,30} )?[A-Za-z][\w-]{0,60}) (?:is|was|ist|lautet|est|es)(?: now| set to)?:? ["'`]?)((?<=["'`])[^\s"'`]+|[^\s"'`]+)/gi,
    left: ifSaid,
  },
  // netrc: `machine h login l password x`, also in lines.
  {
    hint: /password\s/,
    pattern:
      /((?:\b(?:login|machine)\s+\S{1,200}\s{1,20}|^\s{0,20})password\s{1,20})([^\s=:|→][^\s]*)(?=\s|$)/gm,
    left: (all, [before = '', value = '']) =>
      (before.startsWith('p') && isWord(value)) || value === '->' ? all : before + REMOVED,
  },
  {
    hint: /\w \w/,
    pattern:
      /((?<![\w.@/-])-?([\w.-]{0,60}(?:pass|pw|auth|token|secret|key|code|kennw|contras)[\w.ñ-]{0,40}) (?:\d )?)(?![=:|-])([^\s"'`\\|,;:=<>]+)/gi,
    left: ifNoProse,
  },
  // What a command reads as a password: `echo x | sudo -S`, `--password-stdin <<< x`.
  {
    hint: /sudo|-stdin/,
    pattern: /(\becho\s{1,5}["']?)[^\s|"']+(?=["']?\s{0,5}\|\s{0,5}(?:sudo\s{1,5}-S|[^\n|]{1,200}-stdin))/g,
    left: (_, [before]) => `${before}${REMOVED}`,
  },
  {
    hint: /<<</,
    pattern: /(\bpass\w{0,20}-stdin\s{0,5}<<<\s{0,5}["']?)[^\s"']+/g,
    left: (_, [before]) => `${before}${REMOVED}`,
  },
]
