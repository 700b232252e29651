import { isObjectLike } from '../runtime/guards.ts'
import { joinPlace } from '../schema/explain.ts'

interface Issue {
  readonly message: string
  readonly path?: readonly unknown[] | undefined
}

/** What a schema library returns: https://standardschema.dev */
export type StandardOutcome =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly Issue[]; readonly value?: undefined }

const MAX_ISSUES = 10

const UNSAID = 'the schema rejected the arguments'

/** What a schema library finds wrong, one phrase per issue: `'a.b[0]': too short`. */
export function problemsIn(issues: readonly Issue[]): string[] {
  if (issues.length === 0) return [UNSAID]
  return issues.slice(0, MAX_ISSUES).map(({ path = [], message }) => {
    const place = path.map(keyOf).reduce(joinPlace, '')
    return place === '' ? message || UNSAID : `'${place}': ${message || 'not accepted by the schema'}`
  })
}

/** A path segment is a key, or an object with one. */
function keyOf(part: unknown): string {
  return String(isObjectLike(part) ? (part as { key?: unknown }).key : part)
}
