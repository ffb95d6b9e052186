import { PORTAL_PREFIX } from '../../../http/addresses/links.ts'
import { loadAssets, loadScript } from '../../../http/pages/assets.ts'

export const assets = {
  ...loadAssets(PORTAL_PREFIX, 'portal'),
  brand: loadScript(PORTAL_PREFIX, 'brand'),
  passkeys: loadScript(PORTAL_PREFIX, 'passkeys'),
}
