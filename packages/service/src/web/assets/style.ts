/**
 * The colours by what they are for. Text has the contrast of WCAG AA at least (4.5 to 1) on every ground it stands on; `tests/browser`
 * has axe look at each page in both palettes.
 */
export const LIGHT_PALETTE = `--ink:#17211d;--soft:#55625b;--line:#dce1dc;--edge:#7c8982;--paper:#fff;--ground:#f3f5f2;--tint:#e9f2ee;--accent:#0d5c4b;--deep:#094236;--on-accent:#fff;--alert:#a1261d;--alert-tint:#fbecea;--good:#17643a;--good-tint:#e7f4ec;--warn:#6e4800;--warn-tint:#fdf1d6;--shade:0 1px 2px #17211d0f,0 6px 24px #17211d0d`;
export const DARK_PALETTE = `--ink:#e7eeea;--soft:#a3b1aa;--line:#2c3833;--edge:#75847d;--paper:#18211d;--ground:#0e1412;--tint:#1c2d27;--accent:#86d9bd;--deep:#a9e7d2;--on-accent:#06251c;--alert:#ffa399;--alert-tint:#321b19;--good:#86d8a4;--good-tint:#172b1f;--warn:#f2cc83;--warn-tint:#2c2412;--shade:none`;

/**
 * The one style of every page. It works in light and dark, from 360 px up, with text of twice the size, in forced colours and on
 * paper. It fetches no image and no font: a page is complete when its HTML has arrived, and tells no other host who reads it.
 *
 * Three rules to know before changing it:
 * - Spacing is between siblings: the last child of a card or section has no margin, so that components fit together in any order.
 * - A form of a page has one main button, without a class. On phones it takes the whole width.
 * - A table of up to three columns is `compact`, and its rows stay rows on a phone. A wider one is `labelled`: on a phone each cell
 *   gets a line, with its column's name before it.
 */
export const STYLE = `:root{color-scheme:light dark;${LIGHT_PALETTE}}
@media(prefers-color-scheme:dark){:root{${DARK_PALETTE}}}
*,::before,::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;min-height:100vh;display:flex;flex-direction:column;background:var(--ground);color:var(--ink);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Open Sans",sans-serif;overflow-wrap:anywhere}
header>div,main,footer>div{width:100%;max-width:34rem;margin:0 auto;padding:0 1.25rem}
body:not(.console):has(.list th:nth-child(3)) :is(header>div,main,footer>div){max-width:44rem}
body:not(.console):has(.labelled) :is(header>div,main,footer>div){max-width:60rem}
main{flex:1;padding-bottom:2rem}
header{background:var(--paper);border-bottom:1px solid var(--line)}
header>div{display:flex;align-items:center;gap:.6rem;padding-top:.8rem;padding-bottom:.8rem;font-weight:650}
.mark,.letter{display:inline-grid;place-items:center;flex:none;font-weight:700;line-height:1;border:1px solid transparent}
.mark{width:1.75rem;height:1.75rem;border-radius:.5rem;background:var(--accent);color:var(--on-accent);font-size:.95rem}
footer{border-top:1px solid var(--line);color:var(--soft);font-size:.875rem}
footer>div{padding-top:1rem;padding-bottom:1.5rem;display:flex;flex-wrap:wrap;gap:.25rem 1.5rem}
footer p{margin:0}
.test-money{margin:0;padding:.55rem 1.25rem;text-align:center;font-size:.9rem;font-weight:650;background:var(--warn-tint);color:var(--warn);border-bottom:1px solid}
h1{font-size:1.75rem;line-height:1.2;letter-spacing:-.015em;font-weight:700;margin:2rem 0 1.25rem;text-wrap:balance}
h2{font-size:1.125rem;line-height:1.35;margin:0 0 .75rem}
h3{font-size:1rem;margin:1.25rem 0 .5rem}
p{margin:0 0 1rem}
section,.card{background:var(--paper);border:1px solid var(--line);border-radius:.9rem;box-shadow:var(--shade);padding:min(1.5rem,5vw);margin:0 0 1.25rem}
section section,.card .card{border:0;border-top:1px solid var(--line);border-radius:0;box-shadow:none;padding:1.25rem 0 0}
a{color:var(--accent);text-underline-offset:.2em}
a:hover{color:var(--deep)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
label,legend{font-weight:600}
label{display:block;margin:0 0 .35rem}
input,textarea,select{width:100%;min-height:3rem;font:inherit;font-variant-numeric:tabular-nums;color:inherit;background:var(--paper);border:1px solid var(--edge);border-radius:.55rem;padding:.6rem .8rem;margin:0 0 1.1rem}
input:focus-visible,select:focus-visible,textarea:focus-visible{outline-offset:0;border-color:var(--accent)}
input[aria-invalid=true]{border-color:var(--alert);box-shadow:inset 0 0 0 1px var(--alert)}
input[readonly]{background:var(--ground);color:var(--soft)}
input[type=checkbox],input[type=radio]{width:1.25rem;height:1.25rem;min-height:0;margin:0;padding:0;accent-color:var(--accent);flex:none}
input[autocomplete=one-time-code]{font-size:1.6rem;letter-spacing:.3em;text-align:center;padding-left:1.1rem}
input[type=checkbox]{float:left;margin:.15rem .75rem 0 0}
input[type=checkbox]+label{display:flow-root;font-weight:400;margin-bottom:1.1rem}
label:has(>input[type=checkbox]){display:flex;font-weight:400;margin-bottom:1.1rem}
.hint{margin:-.75rem 0 1.1rem;font-size:.9rem}
.hint,.soft{color:var(--soft)}
button,a.button{display:inline-flex;align-items:center;justify-content:center;min-height:3rem;font:inherit;font-weight:650;text-align:center;text-decoration:none;cursor:pointer;color:var(--on-accent);background:var(--accent);border:1px solid var(--accent);border-radius:.6rem;padding:.6rem min(1.4rem,5vw)}
button:hover,a.button:hover{color:var(--on-accent);background:var(--deep);border-color:var(--deep)}
button:active,a.button:active{transform:translateY(1px)}
button.quiet,a.button.quiet{color:var(--accent);background:transparent;border-color:var(--edge);font-weight:600}
button.quiet:hover,a.button.quiet:hover{color:var(--deep);background:var(--tint);border-color:var(--accent)}
button.danger,a.button.danger{color:var(--alert);background:transparent;border-color:var(--alert)}
button.danger:hover,a.button.danger:hover{color:var(--alert);background:var(--alert-tint);border-color:var(--alert)}
button:disabled,button[aria-disabled=true]{opacity:.55;cursor:not-allowed;transform:none}
.card>form>button:not(.quiet,.danger),main>section:only-of-type>form>button:not(.quiet,.danger),.card>button:not(.quiet,.danger),.card>p>a.button:not(.quiet,.danger){width:100%}
.alert,.good{border:1px solid;border-left-width:4px;border-radius:.55rem;padding:.75rem 1rem;margin-bottom:1.25rem}
.alert{color:var(--alert);background:var(--alert-tint)}
.good{color:var(--good);background:var(--good-tint)}
.amount{display:block;font-size:clamp(1.6rem,7.5vw,2.4rem);line-height:1.15;font-weight:700;letter-spacing:-.02em;font-variant-numeric:tabular-nums;margin:0 0 1rem}
.badge{display:inline-block;font-size:.8rem;line-height:1.4;font-weight:650;color:var(--good);background:var(--good-tint);border:1px solid;border-radius:1rem;padding:.1rem .65rem;white-space:nowrap}
.soft:has(+.amount){margin-bottom:0}
.amount:has(+.exact){margin-bottom:.15rem}
.exact{color:var(--soft);font-size:.9rem}
[data-fill]::after{content:attr(data-fill);visibility:hidden}
.month{display:block;width:100%;height:7rem;margin:0 0 .35rem}
.ends{display:flex;justify-content:space-between;gap:1rem;font-size:.875rem}
.month rect{fill:var(--accent)}
.month line{stroke:var(--edge);vector-effect:non-scaling-stroke}
.month .limit{stroke:var(--warn);stroke-width:2;stroke-dasharray:6 4}
.badge+p,.badge+.badge+p{margin-top:.75rem}
h2 .badge{margin-left:.4rem;vertical-align:.1em}
.badge.warn{color:var(--warn);background:var(--warn-tint)}
.app{display:flex;align-items:center;gap:.75rem;font-weight:650;margin-bottom:1rem}
.app img,.letter{width:2.75rem;height:2.75rem;border-radius:.7rem;flex:none}
.app img{object-fit:contain;background:#fff;border:1px solid var(--line)}
.letter{background:var(--tint);color:var(--accent);font-size:1.2rem}
fieldset{border:0;min-width:0;margin:0 0 1.25rem;padding:0}
legend{padding:0;margin:0 0 .6rem}
.choices{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:.6rem}
.choices>:not(label,legend),.choices>label:last-of-type:nth-of-type(odd){grid-column:1/-1;margin-bottom:0}
.choices>label:has(>input){display:flex;align-items:center;gap:.7rem;min-height:3.5rem;margin:0;padding:.7rem .9rem;border:1px solid var(--edge);border-radius:.6rem;cursor:pointer;font-variant-numeric:tabular-nums}
.choices>label:has(>input):hover{background:var(--tint)}
.choices>label:has(>:checked){border-color:var(--accent);background:var(--tint);box-shadow:inset 0 0 0 1px var(--accent)}
.choices>label:has(>:focus-visible){outline:3px solid var(--accent);outline-offset:2px}
.choices input:focus-visible{outline:0}
@supports selector(:has(a)){form:not(:has([value=other]:checked)) .other{display:none}}
.row{display:flex;flex-wrap:wrap;gap:.6rem 1rem;align-items:center;margin:0 0 1rem}
.row>*{margin-bottom:0;min-width:0}
dl{display:grid;grid-template-columns:auto 1fr;margin:0 0 1rem}
dt,dd{padding:.55rem 0;border-top:1px solid var(--line)}
dt{color:var(--soft);padding-right:1rem}
dd{margin:0;text-align:right;font-variant-numeric:tabular-nums}
dd .soft{display:block;font-size:.875rem}
dl>dt:first-child,dl>dt:first-child+dd{border-top:0}
dl>div{grid-column:1/-1;display:flex;justify-content:space-between}
ul,ol{margin:0 0 1rem;padding:0;list-style:none}
li{padding:.8rem 0;border-top:1px solid var(--line)}
li:first-child{border-top:0}
section>:is(ul,ol):last-child>li:last-child{padding-bottom:0}
li>dl{width:100%}
li:has(>div,>form,>.badge){display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;justify-content:space-between}
.alert li{padding:.15rem 0;border:0}
.alert ul{margin:0}
.alert a{color:inherit}
.crumbs{display:flex;flex-wrap:wrap;gap:.3rem .6rem;margin:0 0 1rem;font-size:.9rem}
.crumbs>li{border:0;padding:0}
.crumbs>li+li::before{content:"/";margin-right:.6rem;color:var(--soft)}
.steps{display:flex;flex-wrap:wrap;gap:.3rem 1.25rem;font-size:.875rem;color:var(--soft);counter-reset:step}
.steps>li{border:0;padding:0;counter-increment:step}
.steps>li::before{content:counter(step)". "}
.steps>[aria-current]{color:var(--accent);font-weight:700}
table.list{width:100%;border-collapse:collapse;font-variant-numeric:tabular-nums;margin:0 0 1rem}
caption{text-align:left;font-weight:650;font-size:1.125rem;padding:0 0 .75rem}
.compact td:first-child:nth-last-child(2){white-space:nowrap}
.compact td .soft{white-space:normal;font-weight:400}
caption>.soft{font-size:1rem;font-weight:400}
.list th,.list td{text-align:left;vertical-align:top;padding:.65rem 1rem .65rem 0;border-top:1px solid var(--line);font-weight:400}
.list thead th{color:var(--soft);font-size:.875rem;font-weight:600;border-top:0;padding-top:0}
.list .number{text-align:right;white-space:nowrap}
.list :is(th,td):last-child{padding-right:0}
details{margin:0 0 1rem}
.list .group th{font-weight:650;padding-top:1.25rem}
.list thead+tbody>.group>th{border-top:0;padding-top:.25rem}
summary{cursor:pointer;font-weight:600;color:var(--accent);padding:.5rem 0}
.mail{margin:0;font:inherit;white-space:pre-wrap;overflow-wrap:anywhere}
.code{font-size:1.35rem;font-weight:650;letter-spacing:.08em;user-select:all}
code,kbd{font:.95em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.waiting::before{content:"";display:inline-block;width:1.1em;height:1.1em;margin-right:.6em;vertical-align:-.2em;border:.16em solid var(--line);border-top-color:var(--accent);border-radius:50%;animation:turn 1s linear infinite}
@keyframes turn{to{transform:rotate(1turn)}}
section>:last-child,.card>:last-child,li>*,form>:last-child,fieldset>:last-child,li form{margin-bottom:0}
form+:is(form,p,.row,table,details){margin-top:1rem}
main>form{margin-bottom:1.25rem}
.row>form,.row>form+form,li>form{margin-top:0;margin-bottom:0}
[hidden]{display:none!important}
@media(max-width:30rem){form>button:not(.quiet,.danger){width:100%}h1{font-size:1.5rem;margin-top:1.5rem}section,.card{padding:min(1.15rem,5vw)}.compact tr:where(:not(.group)){display:grid;grid-template:auto 1fr/1fr auto;border-top:1px solid var(--line);padding:.65rem 0}.compact thead tr{border-top:0;padding-top:0}.compact .group{display:block;padding:0 0 .25rem}.compact .group+tr{border-top:0}.compact :is(th,td){border:0;padding:0}.compact :is(th,td):first-child:not(:nth-last-child(2)){grid-row:1/span 2;padding-right:1rem}.compact tr:has(>:nth-child(2):last-child){grid-template:auto/1fr}.compact td:first-child:nth-last-child(2){font-weight:650}.compact td:nth-child(2):last-child{font-weight:400;color:var(--soft)}.list .number{white-space:normal}.compact td:nth-child(2){font-weight:650}.compact td:nth-child(3){color:var(--soft)}
.labelled thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
.labelled tr{display:block;border-top:1px solid var(--line);padding:.5rem 0}
.labelled td{display:flex;justify-content:space-between;gap:1rem;border:0;padding:.2rem 0;text-align:right}
.labelled td::before{flex:none;max-width:50%;content:attr(data-label);color:var(--soft);text-align:left}}
@media(max-width:20rem){.choices,dl{grid-template-columns:1fr}dl>dd,dl>dt:first-child+dd{text-align:left;border-top:0;padding-top:0}dt{padding-bottom:0}}
@media(prefers-reduced-motion:reduce){*,::before{animation:none!important;transition:none!important}button:active{transform:none}}
@media(forced-colors:active){.choices>label:has(>:checked){outline:3px solid Highlight}.mark,.letter{border-color:CanvasText}}
@media print{body{background:#fff}header,footer,form,.test-money{border:0;box-shadow:none}form,nav,button,a.button{display:none}section,.card{border:0;box-shadow:none;padding:0}}`;
