import { ANYTHING, CALL_ERRORS, jsonContent, listOf, NAMES, record, ref, TEXT } from './forms.ts'
import {
  ANSWER,
  DECISION,
  FILTER,
  FORMAT,
  ID,
  KEY,
  NAME,
  PREFER,
  PREFER_CALL,
  QUESTION,
  RECORDING,
  RUN_FILTER,
  SERIAL,
  TIMEOUT,
} from './parameters.ts'

interface Details {
  answer?: object
  /** In addition to 401 and 403. */
  errors?: readonly number[]
  parameters?: object[]
  requestBody?: object
  content?: object
  /** May respond with a run. */
  accepted?: boolean
  /** Responds with an empty body. */
  isEmpty?: boolean
}

const EVENTS = { 'text/event-stream': { schema: { type: 'string' } } }

const RELOADED = record('added removed changed unchanged', {
  added: NAMES,
  removed: NAMES,
  changed: NAMES,
  unchanged: NAMES,
})

/** The details of an operation beyond its summary line. */
export const DETAILS: Record<string, Details> = {
  listTools: { answer: listOf('tools', ref('Tool')), parameters: [{ name: 'q', in: 'query', schema: TEXT }] },
  callTool: {
    answer: ref('ToolResult'),
    errors: [...CALL_ERRORS, 422, 429],
    parameters: [NAME, TIMEOUT, PREFER_CALL, KEY],
    accepted: true,
    requestBody: { content: jsonContent(ANYTHING) },
  },
  listServers: { answer: listOf('servers', ANYTHING) },
  addServer: {
    answer: record('file tools', { tools: NAMES }),
    errors: [400, 404, 409, 413, 422, 503],
    requestBody: {
      required: true,
      content: jsonContent(record('name entry:object check?:boolean replace?:boolean')),
    },
  },
  restartServer: { errors: [404, 503], parameters: [NAME] },
  stopServer: { errors: [404, 503], parameters: [NAME] },
  startServer: { errors: [404, 503], parameters: [NAME] },
  listOffers: { parameters: [NAME] },
  readResource: {
    errors: [400, 404, 502],
    requestBody: { required: true, content: jsonContent(record('uri')) },
  },
  getPrompt: {
    errors: [400, 404, 502],
    requestBody: {
      required: true,
      content: jsonContent(record('name arguments?', { arguments: ANYTHING })),
    },
  },
  listModels: { answer: listOf('models', record('name why')) },
  listConversations: { answer: listOf('conversations', ref('Conversation')) },
  getConversation: { errors: [404], parameters: [ID] },
  renameConversation: {
    answer: ref('Conversation'),
    errors: [400, 404, 413],
    parameters: [ID],
    requestBody: { required: true, content: jsonContent(record('name')) },
  },
  removeConversation: { errors: [404, 409], parameters: [ID] },
  cancelCall: { errors: [404], parameters: [SERIAL] },
  logIn: { errors: [404, 502], parameters: [NAME] },
  reload: { answer: RELOADED, errors: [404, 422, 503] },
  listApprovals: { answer: listOf('approvals', ANYTHING) },
  decide: { errors: [400, 404], parameters: [ID], requestBody: DECISION },
  listQuestions: { answer: listOf('questions', ANYTHING) },
  answer: { errors: [400, 404], parameters: [ID], requestBody: ANSWER },
  getModel: { answer: ref('Model') },
  chat: { errors: [...CALL_ERRORS, 409], parameters: [PREFER], requestBody: QUESTION, content: EVENTS },
  transcribe: { answer: ref('Transcription'), errors: [...CALL_ERRORS, 415, 422], requestBody: RECORDING },
  listCalls: {
    answer: record('calls next?', { calls: { type: 'array', items: ref('Call') } }),
    errors: [400, 503],
    parameters: FILTER,
  },
  exportCalls: {
    errors: [400, 503],
    parameters: [FORMAT, ...FILTER.filter(({ name }) => name !== 'limit' && name !== 'cursor')],
    content: { 'application/jsonl': { schema: ref('Call') }, 'text/csv': { schema: TEXT } },
  },
  getCall: { answer: ref('Call'), errors: [404, 503], parameters: [SERIAL] },
  getResult: { errors: [404, 410], parameters: [ID], content: { '*/*': {} } },
  listRuns: { answer: listOf('runs', ref('Run')), errors: [400, 404, 503], parameters: RUN_FILTER },
  getRun: { answer: ref('Run'), errors: [404, 503], parameters: [ID] },
  cancelRun: { errors: [404, 409, 503], parameters: [ID], isEmpty: true },
  runAgain: { answer: ref('ToolResult'), errors: [404, 429, 503], parameters: [ID], accepted: true },
  watch: { errors: [503], content: EVENTS },
}
