/** Stands in for the layout fields of the form package, which only a `ui:field` could ask for: no form here has one. */
// biome-ignore lint/style/noDefaultExport: that is how the package imports them
export default function NoLayout(): null {
  return null
}
