import { describe, expect, it } from 'vitest'
import { formLayout } from './form-layout.ts'

describe('the layout of a form', () => {
  it('gives an optional boolean a third choice', () => {
    const schema = {
      properties: {
        maybe: { type: 'boolean' },
        must: { type: 'boolean' },
        preset: { type: 'boolean', default: false },
      },
      required: ['must'],
    }
    expect(formLayout(schema)).toEqual({ maybe: { 'ui:widget': 'select' }, must: {}, preset: {} })
  })

  it('gives long text a larger field, at any depth', () => {
    const schema = {
      properties: {
        notes: { type: 'array', items: { type: 'object', properties: { body: { type: 'string' } } } },
      },
    }
    expect(formLayout(schema)).toMatchObject({ notes: { items: { body: { 'ui:widget': 'textarea' } } } })
  })

  it('ends on a schema that never does', () => {
    const endless: { properties: Record<string, unknown> } = { properties: {} }
    endless.properties.again = endless
    expect(formLayout(endless)).toHaveProperty('again.again')
  })
})
