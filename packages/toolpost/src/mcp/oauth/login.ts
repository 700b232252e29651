import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client'
import { RENEW_BEFORE_MS } from './limits.ts'

/** The stored login to one server. */
export interface Login {
  /** The authorization server all of this belongs to; nothing of it is sent to any other. */
  issuer?: string
  client?: StoredOAuthClientInformation
  tokens?: StoredOAuthTokens & { obtainedAt: number }
  /** Where the tokens came from and are renewed. */
  discovery?: OAuthDiscoveryState
  resource?: string
  /** What the server last asked for. */
  wanted?: { scope?: string | undefined; resourceMetadataUrl?: string | undefined }
}

export function withoutTokens({ tokens: _, ...rest }: Login = {}): Login {
  return rest
}

/** Whether the token should be renewed. */
export function isDue(tokens: NonNullable<Login['tokens']>): boolean {
  const lifeMs = (tokens.expires_in ?? 0) * 1_000
  return isOver(tokens, Math.min(RENEW_BEFORE_MS, lifeMs / 5))
}

/** Whether the token has expired, or will have in `inMs`. */
export function isOver({ obtainedAt, expires_in: lifeS }: NonNullable<Login['tokens']>, inMs = 0): boolean {
  return lifeS !== undefined && Date.now() + inMs > obtainedAt + lifeS * 1_000
}
