/**
 * Stands in for fields and widgets of the form package that no form here asks for: the layout fields, dates in parts,
 * ratings, and files, whose format `formSchema` leaves out.
 */
// biome-ignore lint/style/noDefaultExport: that is how the package imports them
export default function NoLayout(): null {
  return null
}
