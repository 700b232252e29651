// docs/reference/http.md, from the OpenAPI document of a gateway without tools.
import { cell } from './markdown.mjs'

export async function httpReference() {
  const { ToolExecutor, ToolManager } = await import('../../packages/toolpost/dist/index.js')
  const { createGateway } = await import('../../packages/toolpost/dist/gateway/index.js')
  const gateway = createGateway({ token: false, executor: new ToolExecutor(new ToolManager()) })
  try {
    const host = '127.0.0.1:4040'
    const request = new Request(`http://${host}/api/openapi.json`, { headers: { host } })
    return page(await (await gateway.fetch(request)).json())
  } finally {
    await gateway.close?.()
  }
}

function page({ paths, components }) {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      section(`${method.toUpperCase()} ${path}`, operation, components),
    ),
  )
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `### ${name}\n\n${fields(schema)}`,
  )
  const intro =
    'From `/api/openapi.json`, which in a running gateway also has an operation for every tool. Limits, events and security are described in\n' +
    '[the HTTP API](../http-api.md). Every route may also answer 401 (the token is missing or wrong) and 403 (Host or Origin not allowed).'
  return ['# HTTP, route by route', intro, ...operations, '## Schemas', ...schemas].join('\n\n')
}

const COMMON = ['401', '403']

function section(title, { summary, parameters = [], requestBody, responses }, components) {
  const given = parameters.map(
    ({ name, in: where, required, schema, description = '' }) =>
      `| \`${name}\` | ${where}${required ? ', required' : ''} | ${cell(typeOf(schema))} | ${cell(description)} |`,
  )
  const own = Object.entries(responses).filter(([status]) => !COMMON.includes(status))
  const answers = own.map(([status, { $ref, description, content }]) => {
    const text = $ref ? components.responses[status].description : description
    return `| ${status} | ${cell(text)}${content ? `: ${cell(contentOf(content).join(', '))}` : ''} |`
  })
  const body = requestBody ? [`Body: ${contentOf(requestBody.content).join(' or ')}`] : []
  return [
    `## ${title}`,
    `${summary}.`,
    ...(given.length > 0 ? [`| parameter | in | type | |\n|---|---|---|---|\n${given.join('\n')}`] : []),
    ...body,
    `| status | |\n|---|---|\n${answers.join('\n')}`,
  ].join('\n\n')
}

function contentOf(content) {
  return Object.entries(content).map(([type, { schema }]) => `${typeOf(schema)} as \`${type}\``)
}

function fields({ properties = {}, required = [] }) {
  const rows = Object.entries(properties).map(
    ([name, schema]) =>
      `| \`${name}\` | ${cell(typeOf(schema))} | ${required.includes(name) ? 'always' : 'sometimes'} |`,
  )
  return `| field | type | present |\n|---|---|---|\n${rows.join('\n')}`
}

function typeOf(schema = {}) {
  if (schema.$ref)
    return `[${schema.$ref.split('/').at(-1)}](#${schema.$ref.split('/').at(-1).toLowerCase()})`
  if (schema.enum) return schema.enum.map(value => `\`${value}\``).join(', ')
  if (schema.const !== undefined) return `\`${schema.const}\``
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}`
  if (schema.type === 'object' && schema.properties)
    return `{ ${Object.entries(schema.properties)
      .map(([name, value]) => `${name}: ${typeOf(value)}`)
      .join(', ')} }`
  return schema.type ?? 'anything'
}
