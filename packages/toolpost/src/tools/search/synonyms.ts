/** Words that people and the authors of tools use for one another, a line for each meaning. */
export const SYNONYMS: readonly string[] = `
add create make new insert append register generate write compose draft set start
begin start launch initiate
delete remove erase drop destroy discard trash clear rid purge forget uninstall wipe
list show display enumerate browse available all which exist have every
get fetch retrieve read obtain details describe about info information view look see tell inspect
find search lookup locate query seek discover look where
update edit modify change alter adjust replace rewrite amend revise patch fix correct
send post publish deliver submit tell inform announce write
upload push put attach import
save store write keep put
download pull fetch export
copy duplicate clone fork
move rename relocate transfer put drag
run execute invoke call launch perform trigger
stop cancel abort halt terminate kill end quit close finish
close shut dismiss
open launch start visit
pause suspend hold
restart reboot reload refresh rollout
undo revert rollback back restore
enable activate on
disable deactivate off
approve accept confirm allow permit allowed permitted review
reject decline deny refuse review
compare diff difference changes changed
merge combine join accept integrate
count number many total amount
sum add plus calculate compute math arithmetic
check verify validate test status
status state condition progress finished done running check
file document text doc attachment
folder directory
tree hierarchy structure nested
path location place
image picture photo screenshot media snapshot
screenshot picture image capture
screencast video record recording film
video movie clip film record
audio sound voice music song
message chat mail email note text
reaction emoji thumbs like
thread discussion conversation replies
channel room workspace
user person people member account profile contact colleague developer employee everybody who
workspace team organization org company
customer client buyer
issue ticket bug problem
close update resolve
assign update
comment reply respond answer review write
reviewer review approve approved
pull merge request pr proposal
branch line
commit change history
repository repo project code codebase source
code source function program script javascript snippet
release version tag
log logs output history record printed console
history past recent earlier lately previous earlier before checks
error failure exception crash problem broken
database db table sql rows
select query filter rows sql
row record entry item
column field property
page website site web url link address article
url link address
crawl website site pages every whole
scrape extract content text page article pull
map urls links
research investigate report study depth
paper papers article scientific arxiv publication
cite citation related reference
browser tab window page
tab page window
click press tap button hit
type enter fill input write field box
form fields registration
navigate go visit open
dialog alert popup confirm
hover mouse
key keyboard press hit
emulate simulate dark mode slow network
network request requests traffic
performance fast slow speed load loads trace
memory heap heapsnapshot ram
accessibility seo audit lighthouse
css style styles rules
weather forecast rain sun
temperature warm cold hot heat thermostat degrees
light lamp bulb dim brightness
switch toggle turn select context
lock unlock door
device gadget appliance sensor
directions route way drive driving
distance far travel
elevation height high altitude mountain
geocode coordinates latitude longitude address
address location coordinates
place business restaurant pharmacy shop store pizzeria local
nearby near around local
time clock date day calendar now current today
last modified metadata info
size large big space sizes
event meeting appointment schedule calendar
reminder remind alarm timer
price cost pay payment charge money bill invoice
order purchase buy
refund return
subscription plan
product item goods
stock inventory
news headlines latest current
translate language
summarize summary brief overview
knowledge memory graph remember recall know stored
entity node person thing everything
relation link connection relationship connect
observation fact note
monitor watch watching track changes
think thinking reason thought step problem
permission access rights allowed
password secret credential key token
environment variable env setting configuration config
pod container
deploy deployment apply release ship yaml manifest
scale replicas copies resize
node server machine host cluster maintenance drain
port tunnel forward connection reach
shell command exec execute
resize bigger smaller size
kubernetes cluster kubectl k8s
helm chart release
upgrade update newer version
documentation docs manual how library package
library package framework
agent assistant
parse convert turn
notification alert notify warning
chart graph plot diagram
convert transform format turn
compress zip gzip archive
wait until
back previous before
`
  .trim()
  .split('\n')
