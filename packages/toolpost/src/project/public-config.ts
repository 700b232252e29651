export {
  ConfigError,
  type OAuthConfig,
  type ServerConfig,
  type ToolpostConfig,
  type VoiceConfig,
} from './config.ts'
export { type ResolvedConfig, resolveConfig as readConfig } from './resolve.ts'
