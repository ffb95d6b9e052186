import { loadAssets } from '../../../http/assets.ts'
import { PORTAL_PREFIX } from '../../../http/links.ts'

export const assets = loadAssets(PORTAL_PREFIX, 'portal')
