export { type FakeClock, fakeClock } from './fake-clock.ts'
export { type LogRecord, type RecordingLogger, recordingLogger } from './recording-logger.ts'
