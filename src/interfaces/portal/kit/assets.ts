import { PORTAL_PREFIX } from '../../../domain/secrets/account-tokens.ts'
import { loadAssets } from '../../../http/assets.ts'

export const assets = loadAssets(PORTAL_PREFIX, 'portal')
