import { loadAssets } from '../../../http/assets.ts'
import { INVITATION_PATH } from '../../../http/links.ts'

export const assets = loadAssets(INVITATION_PATH, 'candidate')
