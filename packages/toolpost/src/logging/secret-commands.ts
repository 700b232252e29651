import { REMOVED } from './known-secrets.ts'

/*
 * Secrets in command lines, including those written as a list (`["curl", "-u", "a:b"]`), and either of them inside JSON,
 * where quotes are escaped.
 */

const QUOTE = '\\\\{0,7}["\']'
/** Between the words of a command line. */
const GAP = `(?:\\s+|${QUOTE}\\s*,\\s*${QUOTE})`
/** A word, or several in quotes; `group` is the number of the quote's group. */
export const ARGUMENT = (group: number) =>
  `(?:(${QUOTE})(?:(?!\\${group})[^\\n])*(?:\\${group})?|[^\\s"'\`,\\]\\\\](?:[^\\s"'\`,\\]\\\\]|\\\\(?!["']))*)`

/** Single-letter options that may take a secret. */
export const SHORT_OPTION = /(?:^|[\s"'])-[abkpPuUw]/

/** Programs that accept a secret in a single-letter option. */
const PROGRAMS: readonly { name: RegExp; option: RegExp }[] = [
  { name: /curl$/, option: /^-b/ },
  { name: /sshpass$/, option: /^-p/ },
  { name: /login$/, option: /^-p/ },
  { name: /(?:mysql\w{0,20}|mariadb[\w-]{0,20}|7za?)$/, option: /^-p[^\s,]/ },
  { name: /redis-cli$/, option: /^-a/ },
  { name: /ldap\w{1,20}$/, option: /^-w/ },
  { name: /zip$|mosquitto_\w{1,5}$/, option: /^-P/ },
  { name: /openssl$/, option: /^-k/ },
  { name: /https?$|xh$/, option: /^-a/ },
  { name: /^mongo/, option: /^-p/ },
]
const PROGRAM =
  /\b(?:curl|sshpass|openssl|xh|https?(?!:)|mosquitto_\w{1,5}|(?:docker|podman|nerdctl|buildah|skopeo|registry|auth|az)(?:["'\s,\\:[]|args){1,20}login|(?:mysql|mariadb|mongo)[\w-]{0,20}|7za?|redis-cli|ldap\w{1,20}|(?:un)?zip)(?=["'\s\\])/g
const PROGRAM_REACH = 300

/** Whether the program that an option belongs to accepts a secret in it. */
function takesSecret(text: string, at: number, option: string): boolean {
  const command = text.slice(Math.max(0, at - PROGRAM_REACH), at)
  const name = [...command.matchAll(PROGRAM)].at(-1)?.[0] ?? ''
  return PROGRAMS.some(program => program.name.test(name) && program.option.test(option))
}

/** curl's `-u user:password`, smbclient's `-U user%password`. */
export const USER_OPTION = new RegExp(
  `(?<![\\w-])((?:-u|--user)(?:${GAP}|=)?(?:${QUOTE})?[^\\s:"'\\\\=]{1,100}:)(?!\\d+\\b)[^\\s"'\\\\]+`,
  'g',
)
export const SAMBA_USER = new RegExp(
  `(?<![\\w-])(-U${GAP}?(?:${QUOTE})?[^\\s%"'\\\\]{1,100}%)[^\\s"'\\\\]+`,
  'g',
)

export const OPTION_OF_PROGRAM = new RegExp(
  `(?<![\\w-])(-[abkpPw])(=|${GAP}|(?!${GAP}))(?!-|\\[removed\\])(${ARGUMENT(4)})`,
  'g',
)

export function ifProgramTakesIt(all: string, groups: readonly string[], at: number, text: string): string {
  const [option = '', gap = '', value = ''] = groups
  return takesSecret(text, at, gap === '' || gap === '=' ? option + gap + value : option)
    ? option + gap + REMOVED
    : all
}
