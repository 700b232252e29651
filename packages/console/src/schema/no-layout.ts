/**
 * Replaces fields and widgets of the form package that no form here uses: layout fields, split dates, ratings, and
 * files, whose format `formSchema` removes.
 */
// biome-ignore lint/style/noDefaultExport: the package imports it that way
export default function NoLayout(): null {
  return null
}
