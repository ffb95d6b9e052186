import { INVITATION_PATH } from '../../../http/addresses/links.ts'
import { loadAssets } from '../../../http/pages/assets.ts'

export const assets = loadAssets(INVITATION_PATH, 'candidate')
