/** Replaces the form package's URI library: a form's schema only has references to itself, by `#/…`. */
// biome-ignore lint/style/noDefaultExport: the library is imported that way
export default {
  resolve: (base: string, reference: string): string => `${base}${reference}`,
  equal: (one: string, other: string): boolean => one === other,
}
