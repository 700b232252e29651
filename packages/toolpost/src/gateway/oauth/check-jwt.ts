import type { JWTPayload, JWTVerifyOptions, JWTVerifyResult } from 'jose'
import { JWT_CLOCK_TOLERANCE_S, MAX_JWT_LENGTH, MAX_KEYS_TRIED } from '../limits.ts'
import { type Issuer, IssuerUnavailable } from './issuer.ts'

/** Asymmetric signatures only: the public key must not be enough to make one. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

/** The types of access tokens; tokens for other purposes, such as logout, have another. */
const TYPES = ['jwt', 'at+jwt', 'application/at+jwt']

export interface ExpectedToken {
  issuer: string
  audience: string
}

/** The claims of a token, or what is wrong with it. */
export type CheckedToken = { claims: JWTPayload } | { problem: string }

/** Checks a JWT access token (RFC 9068). Rejects only with an IssuerUnavailable. */
export async function checkJwt(token: string, keys: Issuer, expected: ExpectedToken): Promise<CheckedToken> {
  if (token.length > MAX_JWT_LENGTH) return { problem: 'the token is too long' }
  try {
    const { payload, protectedHeader } = await verify(token, keys, {
      issuer: expected.issuer,
      audience: expected.audience,
      algorithms: ALGORITHMS,
      clockTolerance: JWT_CLOCK_TOLERANCE_S,
      requiredClaims: ['exp'],
    })
    if (!TYPES.includes((protectedHeader.typ ?? 'jwt').toLowerCase()))
      return { problem: 'the token is not an access token' }
    // The sender would have to prove possession of the key, which is not checked here.
    if (payload.cnf !== undefined) return { problem: 'the token is bound to a key, which is not supported' }
    return { claims: payload }
  } catch (error) {
    if (error instanceof IssuerUnavailable) throw error
    return { problem: problemOf(error) }
  }
}

/** Tries every possible key for a token that does not name one. */
async function verify(token: string, keys: Issuer, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  const { jwtVerify, errors } = await import('jose')
  try {
    return await jwtVerify(token, (...input) => keys.key(...input), options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    let tried = 0
    for await (const key of error) {
      if (++tried > MAX_KEYS_TRIED) break
      const checked = await jwtVerify(token, key, options).catch((failed: Error) => failed)
      if (!(checked instanceof Error)) return checked
      if (!(checked instanceof errors.JWSSignatureVerificationFailed)) throw checked
    }
    throw error
  }
}

/** In our own words: nothing from the token is repeated. */
function problemOf(error: unknown): string {
  const { code, claim } = error as { code?: string; claim?: string }
  if (code === 'ERR_JWT_EXPIRED') return 'the token has expired'
  if (claim === 'iss') return 'the token is from another issuer'
  if (claim === 'aud') return 'the token is for another audience'
  if (claim === 'nbf') return 'the token is not valid yet'
  if (claim === 'exp') return 'the token has no expiry'
  if (code === 'ERR_JOSE_ALG_NOT_ALLOWED') return 'the token is not signed with a public-key algorithm'
  if (code === 'ERR_JWKS_NO_MATCHING_KEY') return 'the token is signed with an unknown key'
  if (code === 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED') return 'the token has an invalid signature'
  return 'the token is not a valid access token'
}
