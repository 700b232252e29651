import { encodeField, encodeInteger, type Field, fieldsOf, type Parts } from './protobuf.ts'

// Field numbers of ONNX's messages.
const MODEL = { graph: 7, operators: 8 }
const OPERATORS = { domain: 1, version: 2 }
const GRAPH = { node: 1 }
const NODE = { input: 1, output: 2, name: 3, operator: 4, attribute: 5, domain: 7 }
const ATTRIBUTE = { graph: 6 }

const RUNTIME_DOMAIN = 'com.microsoft'

interface Node {
  inputs: readonly string[]
  outputs: readonly string[]
  name: string
  operator: string
}

/**
 * Multiplies by 8-bit weights as they are. Moonshine's decoder turns the 9 million weights of its last layer into floats at
 * every step, which takes half of a step and 40 MB. ONNX Runtime's integer product gives the same scores within a tenth
 * of a nat.
 */
export function withIntegerProducts(model: Buffer): Buffer {
  const operators = encodeField(MODEL.operators, [
    ...encodeField(OPERATORS.domain, RUNTIME_DOMAIN),
    ...encodeInteger(OPERATORS.version, 1),
  ])
  const rewritten = rewrite(model, MODEL.graph, graph => rewriteGraph(graph))
  return Buffer.concat([...rewritten, ...operators])
}

/** The message with its fields of one number rewritten. */
function rewrite(message: Buffer, number: number, change: (content: Buffer) => Parts): Parts {
  return [...fieldsOf(message)].flatMap(field =>
    field.number === number ? encodeField(number, change(field.content)) : [field.encoded],
  )
}

function rewriteGraph(graph: Buffer): Parts {
  const nodes = [...fieldsOf(graph)].filter(isNode).map(({ content }) => nodeOf(content))
  const weights = new Map(
    nodes.filter(isConversion).map(({ inputs, outputs }) => [outputs[0] as string, inputs]),
  )
  const neededAsFloats = new Set(
    nodes.flatMap(node => (weightsOf(node, weights) ? node.inputs.slice(0, 1) : node.inputs)),
  )
  return [...fieldsOf(graph)].flatMap(field => {
    if (!isNode(field)) return [field.encoded]
    const node = nodeOf(field.content)
    if (isConversion(node) && !neededAsFloats.has(node.outputs[0] as string)) return []
    const quantized = weightsOf(node, weights)
    return encodeField(GRAPH.node, quantized ? integerProduct(node, quantized) : rewriteInner(field.content))
  })
}

/** The branches of a condition are graphs too. */
function rewriteInner(node: Buffer): Parts {
  return rewrite(node, NODE.attribute, attribute => rewrite(attribute, ATTRIBUTE.graph, rewriteGraph))
}

function isNode({ number }: Field): boolean {
  return number === GRAPH.node
}

function isConversion({ operator }: Node): boolean {
  return operator === 'DequantizeLinear'
}

/** The 8-bit weights that a product's second factor is made of, with their scale and zero point. */
function weightsOf(
  { operator, inputs }: Node,
  weights: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined {
  return operator === 'MatMul' ? weights.get(inputs[1] ?? '') : undefined
}

function integerProduct({ inputs, outputs, name }: Node, quantized: readonly string[]): Parts {
  return [
    ...[inputs[0] as string, ...quantized].flatMap(input => encodeField(NODE.input, input)),
    ...outputs.flatMap(output => encodeField(NODE.output, output)),
    ...encodeField(NODE.name, name),
    ...encodeField(NODE.operator, 'DynamicQuantizeMatMul'),
    ...encodeField(NODE.domain, RUNTIME_DOMAIN),
  ]
}

function nodeOf(content: Buffer): Node {
  const fields = [...fieldsOf(content)]
  const texts = (number: number) =>
    fields.filter(field => field.number === number).map(field => field.content.toString())
  return {
    inputs: texts(NODE.input),
    outputs: texts(NODE.output),
    name: texts(NODE.name)[0] ?? '',
    operator: texts(NODE.operator)[0] ?? '',
  }
}
