import { REMOVED } from './known-secrets.ts'

/*
 * Secrets in command lines, also in such that are written as a list: `["curl", "-u", "a:b"]`, and in either as JSON,
 * where a quote has backslashes before it.
 */

const QUOTE = '\\\\{0,7}["\']'
/** Between the words of a command line. */
const GAP = `(?:\\s+|${QUOTE}\\s*,\\s*${QUOTE})`
/** A word, or several in quotes; the group is the quote. */
export const ARGUMENT = (group: number) =>
  `(?:(${QUOTE})(?:(?!\\${group})[^\\n])*(?:\\${group})?|[^\\s"'\`,\\]\\\\](?:[^\\s"'\`,\\]\\\\]|\\\\(?!["']))*)`

/** `-p`, `-u`: of a command. */
export const SHORT_OPTION = /(?:^|[\s"'])-[abkpPuUw]/

/** Programs that take a secret by an option of one letter. */
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

/** Whether the program before an option takes a secret by it. */
function takesSecret(text: string, at: number, option: string): boolean {
  const command = text.slice(Math.max(0, at - PROGRAM_REACH), at)
  const name = [...command.matchAll(PROGRAM)].at(-1)?.[0] ?? ''
  return PROGRAMS.some(program => program.name.test(name) && program.option.test(option))
}

/** `-u user:password`, of curl; `-U user%password`, of smbclient. */
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
