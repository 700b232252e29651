/*
 * Keys and tokens with a prefix that identifies their issuer. The only such list; every prefix has its hint in `MARKS`.
 */

const RANDOM = '(?=[\\w-]{0,200}\\d)[\\w-]{16,}'

export const MARKED = new RegExp(
  [
    '(?<![A-Za-z0-9])(?:',
    [
      `sk-(?:ant|proj|or|svcacct|admin)-[\\w-]{8,}|sk-${RANDOM}`, // Anthropic, OpenAI and others
      '(?:sk|rk|pk)_(?:live|test)_\\w{10,}|whsec_[\\w+/=]{16,}|sq0[a-z]{3}-[\\w-]{16,}', // Stripe, Square
      'gh[opusr]_\\w{16,}|github_pat_\\w{16,}|gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent|oas)-[\\w-]{16,}', // GitHub, GitLab
      'xox[a-z](?:\\.xox[a-z])?-[\\w-]{10,}|xapp-[\\w-]{10,}', // Slack
      '(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}', // AWS
      'AIza[\\w-]{30,}|ya29\\.[\\w-]{16,}|GOCSPX-[\\w-]{16,}|1//0[\\w-]{24,}', // Google
      'hf_\\w{16,}|gsk_\\w{16,}|npm_\\w{30,}|pypi-[\\w-]{30,}|rubygems_\\w{16,}|do[opr]_v1_\\w{30,}|shp(?:at|ss|ca|pa)_\\w{16,}',
      'SG\\.[\\w-]{16,200}\\.[\\w-]{16,}|AGE-SECRET-KEY-1[A-Z0-9]{16,}|key-[0-9a-f]{32}(?![0-9a-f])', // SendGrid, age, Mailgun
      'hv[sb]\\.[\\w-]{16,}|dp\\.[a-z]{2,5}\\.\\w{16,}|dapi[0-9a-f]{32}|SK[0-9a-f]{32}', // Vault, Doppler, Databricks, Twilio
      `(?:lin_api|ntn|figd|sbp|r8|dckr_pat|dckr_oat|glsa|glc|pscale_[a-z]{2,5}|pcsk|lsv2_[a-z]{2}|sntry[su]|phx|fm[12]|ops)_${RANDOM}`,
      `(?:xai|pplx|tvly|nvapi|tskey-[a-z]{2,10}|PMAK|NRAK|CFPAT|ATATT3|ATCTT3)${'-?'}(?=[A-Za-z0-9])${RANDOM}`,
      '(?:re|vercel|secret)_(?=\\w{0,100}\\d)(?=\\w{0,100}[A-Z])\\w{20,}|secret_(?=\\w{0,100}\\d)\\w{24,}',
      '\\w{10,20}\\.atlasv1\\.[\\w-]{16,}|[sp]k\\.eyJ[\\w.-]{16,}|sl\\.[\\w-]{40,}', // Terraform, Mapbox, Dropbox
      '\\d{6,12}:AA[\\w-]{30,}|[MNO][\\w-]{17,27}\\.\\w{6}\\.[\\w-]{27,}', // Telegram, Discord
      '(?<=hooks\\.slack\\.com/services/)[\\w/]+|(?<=/webhooks?/)[\\w@./-]{16,}',
    ].join('|'),
    ')|(?<=/bot)\\d{5,12}:[\\w-]{16,}|(?<![\\w-])eyJ[\\w-]{6,}\\.[\\w-]{8,}(?:\\.[\\w-]*)*', // JSON Web Tokens
  ].join(''),
  'g',
)

export const MARKS =
  /sk-|[srp]k[._]|whsec|sq0|gh[opusr]_|github_pat|gl[a-z]{2,5}[-_]|glc_|xox|xapp|A[KSBC]|AIza|ya29|GOCSPX|1\/\/0|hf_|gsk_|npm_|pypi-|rubygems_|do[opr]_v1|shp|SG\.|eyJ|AGE-|key-[0-9a-f]|hooks\.slack|\/webhook|\/bot\d|hv[sb]\.|dp\.[a-z]|dapi|SK[0-9a-f]|lin_api|ntn_|figd_|sbp_|r8_|dckr_|pscale_|pcsk_|lsv2_|sntry|phx_|fm[12]_|ops_|xai-|pplx-|tvly-|nvapi-|tskey-|PMAK-|NRAK-|CFPAT-|AT[AC]TT3|re_|vercel_|secret_|atlasv1|sl\.|\d:AA|\.\w{6}\./
