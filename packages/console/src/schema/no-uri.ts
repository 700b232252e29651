/** Stands in for the URI library of the form package: the schema of a form refers to itself only, by `#/…`. */
// biome-ignore lint/style/noDefaultExport: that is how the library is imported
export default {
  resolve: (base: string, reference: string): string => `${base}${reference}`,
  equal: (one: string, other: string): boolean => one === other,
}
