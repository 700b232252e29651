export { datetimeTool } from './datetime.ts'
export { createRagQuery, searchDocumentsDeclaration } from './documents/rag-query.ts'
export { searchTool } from './search.ts'
export { volumeTool } from './volume.ts'
