import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { loadAssets, loadScript } from '../../../http/pages/assets.ts'

export const assets = { ...loadAssets(PORTAL_PREFIX, 'portal'), passkeys: loadScript(PORTAL_PREFIX, 'passkeys') }
