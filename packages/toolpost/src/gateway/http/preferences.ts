const NONE: ReadonlyMap<string, string> = new Map()

/** The preferences of a request (RFC 7240): `respond-async, wait=10`. Names in lower case. */
export function preferencesOf({ headers }: Request): ReadonlyMap<string, string> {
  const given = headers.get('prefer')
  if (given === null) return NONE
  return new Map(
    given.split(',').map(each => {
      const [preference = ''] = each.split(';')
      const [name = '', value = ''] = preference.split('=')
      return [name.trim().toLowerCase(), value.trim().replaceAll('"', '')]
    }),
  )
}
