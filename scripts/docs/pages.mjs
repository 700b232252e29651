// The pages of docs/reference, and docs/faults.md. `npm run docs` writes them; a test fails if one is out of date.
import { apiReference } from './api.mjs'
import { commandLineReference } from './command-line.mjs'
import { configurationReference } from './configuration.mjs'
import { faultsPage } from './faults.mjs'
import { httpReference } from './http.mjs'

const NOTE = '<!-- Written by `npm run docs` from the source. Do not edit. -->'

/** `{ 'docs/reference/api.md': text, … }` */
export async function referencePages() {
  const pages = {
    'docs/reference/api.md': apiReference(),
    'docs/reference/command-line.md': await commandLineReference(),
    'docs/reference/configuration.md': configurationReference(),
    'docs/reference/http.md': await httpReference(),
  }
  const reference = Object.entries(pages).map(([path, text]) => [path, `${NOTE}\n\n${text}\n`])
  return { ...Object.fromEntries(reference), 'docs/faults.md': faultsPage() }
}
