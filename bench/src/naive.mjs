import { Ajv } from 'ajv'
import { JSON_SCHEMA } from './sample-tool.mjs'

/** The obvious implementation: Ajv, AbortController, setTimeout and clearTimeout, Promise.race. */
export function naiveExecutor(work, limitMs) {
  const validate = new Ajv().compile(JSON_SCHEMA)
  return async args => {
    if (!validate(args)) throw new Error(`Invalid parameters: ${validate.errors[0].message}`)
    const controller = new AbortController()
    let timer
    const deadline = new Promise((_, reject) => {
      timer = setTimeout(() => {
        controller.abort()
        reject(new Error(`Timed out after ${limitMs} ms`))
      }, limitMs)
    })
    try {
      return await Promise.race([work(args, { signal: controller.signal }), deadline])
    } finally {
      clearTimeout(timer)
    }
  }
}
