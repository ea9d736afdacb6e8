/** Where preferences are kept, and the script that applies them before the first paint, so that no page flashes. */
export const SETTINGS_KEY = "grove.settings"

export const EARLY = `try{var s=JSON.parse(localStorage.getItem("${SETTINGS_KEY}")||"{}"),d=document.documentElement;if(s.theme==="light"||s.theme==="dark")d.dataset.theme=s.theme;if(s.density)d.dataset.density=s.density}catch(e){}`
