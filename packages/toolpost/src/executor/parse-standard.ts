import { isObjectLike } from '../runtime/guards.ts'

interface Issue {
  readonly message: string
  readonly path?: readonly unknown[] | undefined
}

/** What a schema library answers: https://standardschema.dev */
export type StandardOutcome =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly Issue[]; readonly value?: undefined }

const MAX_ISSUES = 10

/** What a schema library finds wrong, one phrase an issue: `'a.b': too short`. */
export function problemsIn(issues: readonly Issue[]): string[] {
  return issues.slice(0, MAX_ISSUES).map(({ path = [], message }) => {
    const place = path.map(part => (isObjectLike(part) ? (part as { key?: unknown }).key : part)).join('.')
    return place === '' ? message : `'${place}': ${message}`
  })
}
