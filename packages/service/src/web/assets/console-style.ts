const EIGHT = [1, 2, 3, 4, 5, 6, 7, 8];
/**
 * What pages of the console have besides the style of all pages: a navigation at the side, wide tables, figures, charts
 * and code. In the sandbox the accent is amber, so that nobody takes play money for money.
 */
export const CONSOLE_STYLE = `.console{--main:#0d5c4b;--rare:#3b5ba5}
.console{display:grid;grid-template:auto minmax(0,1fr) auto/14.5rem minmax(0,1fr)}
.console.sandbox{grid-template-rows:auto auto minmax(0,1fr) auto}
.console>:is(header,footer){grid-column:1/-1}
.console>header{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;padding:0 1.25rem}
.console>header>div{width:auto;margin:0;padding-left:0;padding-right:0}
.console>footer>div{max-width:none;margin:0}
.console>main{max-width:76rem;margin:0;padding:0 2rem 3rem;min-width:0}
.whole>main{grid-column:1/-1;width:100%;margin:0 auto;padding-top:2rem}
.narrow>main{max-width:46rem}
.console h1{margin:0 0 1.25rem;font-size:1.6rem}
.crumbs{padding-top:1.25rem}
.top{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem 1.25rem;font-size:.925rem}
.top a[aria-current]{color:var(--ink);font-weight:650;text-decoration:none}
.top form,.top button{margin:0}
.top button{min-height:2.25rem;padding:.25rem .75rem;font-size:.925rem}
.side{border-right:1px solid var(--line);background:var(--paper);padding:1.25rem .75rem}
.side ul{margin:0}
.side li{border:0;padding:0}
.side a{display:block;padding:.45rem .75rem;border-radius:.5rem;color:var(--ink);text-decoration:none;font-size:.95rem}
.side a:hover{background:var(--tint)}
.side a[aria-current]{background:var(--tint);color:var(--accent);font-weight:650}
.side label{font-size:.875rem}.side input{min-height:2.5rem;padding:.35rem .7rem;margin:0 0 .75rem}
.switch{display:flex;margin:0 0 1.25rem;border:1px solid var(--edge);border-radius:.6rem;overflow:hidden}
.switch a{flex:1;color:var(--ink);text-decoration:none;padding:.4rem .5rem;border-radius:0;text-align:center;font-weight:600}
.switch a[aria-current]{background:var(--accent);color:var(--on-accent)}
.console>main>.switch{max-width:22rem}
.console>main>.wide{max-width:34rem}
.band{grid-column:1/-1;margin:0;padding:.4rem 1.25rem;text-align:center;font-size:.9rem;font-weight:650;background:var(--warn-tint);color:var(--warn);border-bottom:1px solid}
.sandbox{--accent:#7a4a00;--deep:#5c3700;--tint:#fbf0db}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(8.75rem,1fr));gap:.75rem;margin:0 0 1.25rem}
.tiles>div{display:block;grid-column:auto;background:var(--paper);border:1px solid var(--line);border-radius:.9rem;padding:1rem 1.15rem}
.tiles :is(dt,dd){border:0;padding:0;text-align:left}
.tiles dt{font-size:.9rem}
.tiles dd{font-size:1.5rem;font-weight:700;line-height:1.35;letter-spacing:-.01em}
.tiles dd+dd{font-size:.875rem;font-weight:400;letter-spacing:0;color:var(--soft)}
.bullets>li,.numbered>li{display:list-item;border:0;padding:.3rem 0;margin-left:1.35rem}
.bullets{list-style:disc}.numbered{list-style:decimal}
:is(.bullets,.numbered)>li>div>:last-child{margin-bottom:0}
.guides>main>h1:first-child{padding-top:1.75rem}
.ways{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,17rem),1fr));gap:0 1.25rem}
.guides .side p{margin:0;padding:1.25rem .75rem .25rem;font-size:.875rem}
.side .others a{padding:0;color:var(--soft);text-decoration:underline;font-size:.875rem}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:0 1.25rem;align-items:start}
.scroll{overflow-x:auto;margin:0 0 1rem}
.scroll th{white-space:nowrap}
.scroll .wide{min-width:56rem}
.chart{direction:rtl;overflow-x:auto;margin:0 0 .5rem}
.chart svg{direction:ltr;display:block;width:100%;min-width:34rem;height:auto}
.chart text{fill:var(--soft);font:.7rem system-ui,sans-serif;font-variant-numeric:tabular-nums}
.chart line{stroke:var(--line)}
.chart rect,.key::before{fill:var(--main,var(--accent));background:var(--main,var(--accent))}
.chart .rare,.key.rare::before{fill:var(--rare);background:var(--rare)}
.chart .bad,.key.bad::before{fill:var(--alert);background:var(--alert)}
.chart .calm,.key.calm::before{fill:var(--edge);background:var(--edge)}
.keys{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;font-size:.875rem;margin:0 0 .75rem}
.keys>li{border:0;padding:0}
.key::before{content:"";display:inline-block;width:.75em;height:.75em;border-radius:.2em;margin-right:.45em}
.snippet{margin:0 0 1.25rem;border:1px solid var(--line);border-radius:.6rem;background:var(--ground);min-width:0}
.snippet figcaption{display:flex;align-items:center;justify-content:space-between;gap:1rem;min-height:2.5rem;padding:.25rem .5rem .25rem 1rem;border-bottom:1px solid var(--line);color:var(--soft);font-size:.875rem;font-weight:600}
.snippet button{flex:none;min-height:1.9rem;padding:.15rem .7rem;font-size:.85rem}
.snippet pre{margin:0;padding:.85rem 1rem;overflow-x:auto;font-size:.875rem;line-height:1.5}
.snippet pre.wrap{white-space:pre-wrap}
.snippet .note{margin:0;padding:.7rem 1rem;border-top:1px solid var(--line);color:var(--soft);font-size:.925rem}
@media not print{.tabs>input:nth-of-type(n)~.snippet{display:none}${EIGHT.map((at) => `.tabs>input:nth-of-type(${at}):checked~.snippet:nth-of-type(${at})`).join(',')}{display:block}}
.tabs{position:relative;display:flex;flex-wrap:wrap;gap:.25rem .4rem;margin:0 0 1.25rem}
.tabs>.snippet{flex:1 1 100%;margin:0}
.tabs>input{position:absolute;opacity:0}
.tabs>label{margin:0 0 .35rem;padding:.35rem .8rem;border:1px solid var(--edge);border-radius:2rem;font-size:.9rem;cursor:pointer}
.tabs>label:hover{background:var(--tint)}
.tabs>:checked+label{color:var(--on-accent);background:var(--accent);border-color:var(--accent)}
.tabs>:focus-visible+label{outline:3px solid var(--accent);outline-offset:2px}
.filter{display:flex;flex-wrap:wrap;gap:.75rem 1rem;align-items:end;margin:0 0 1.25rem}
.filter>div{flex:1 1 10rem;max-width:20rem}
.filter>hr{flex:1 1 100%;border:0;margin:-.75rem 0 0}
.filter :is(input,select){min-height:2.6rem;padding:.35rem .7rem;margin:0}
.filter button{min-height:2.6rem;padding:.35rem 1rem}
.filter label{font-size:.875rem}
.confirm{margin:0 0 1rem}
.list td details{margin:0}.list td summary{padding:0}.list td .confirm[open]{padding-top:.5rem}.list td details .confirm{margin:.5rem 0 0}
.confirm[open]{border:1px solid var(--line);border-radius:.6rem;padding:0 1rem 1rem}
.spent{margin:0 0 0 auto;text-align:right;font-weight:650;font-variant-numeric:tabular-nums}
.spent .soft{display:block;font-weight:400;font-size:.875rem}
.todo>li{display:block;padding-left:2rem;position:relative}
.todo>li::before{content:"";position:absolute;left:0;top:1rem;width:1.1rem;height:1.1rem;border:2px solid var(--edge);border-radius:50%}
.todo>.done::before{content:"\\2713";display:grid;place-items:center;border-color:var(--good);color:var(--good);font-weight:700;font-size:.8rem}
.console .list td{overflow-wrap:break-word}
.console .list code{font-size:.875em}
@media(prefers-color-scheme:dark){.console{--main:#86d9bd;--rare:#9db7f0}.sandbox{--accent:#f2c06b;--deep:#f8d9a3;--tint:#2e2410;--on-accent:#241700}}
@media(max-width:56rem){.console,.console.sandbox{grid-template:auto/minmax(0,1fr)}.top{padding-bottom:.5rem}.console>main{padding:0 1.25rem 2rem}.side{border-right:0;border-bottom:1px solid var(--line);padding:.6rem 1.25rem}.side ul{display:flex;overflow-x:auto;gap:.25rem}.side li:has([aria-current]){order:-1}.side a{white-space:nowrap}.switch{margin:0 0 .6rem;max-width:20rem}}
@media(max-width:56rem){.console.whole{grid-template:auto minmax(0,1fr) auto/minmax(0,1fr)}.console,.console.sandbox{align-content:start}.whole>main{padding-top:1.5rem}}
@media(max-width:56rem){.guides>.side{display:contents}.guides>.side>*{padding:.75rem 1.25rem 0}.guides>.side>nav{order:1;padding-bottom:1.25rem;background:var(--paper);border-top:1px solid var(--line)}.guides>footer{order:2}.guides .side ul{display:block}}
@media(max-width:34rem){.console>header{position:relative}.console>header:has(form)>div{padding-right:6.5rem}.top form{position:absolute;top:.6rem;right:1.25rem}}
@media(max-width:40rem){.stacked thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}.stacked :is(tr,td){display:block}.stacked tr{border-top:1px solid var(--line);padding:.6rem 0}.stacked td{border:0;padding:0}.stacked td:first-child{font-weight:650}.stacked td:empty{display:none}.stacked [data-label]::before{content:attr(data-label);color:var(--soft)}}
@media(max-width:30rem){.console .labelled td{overflow-wrap:anywhere}}
@media print{.side,.top{display:none}}`;
